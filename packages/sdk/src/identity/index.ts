/** Making the keys and certificates of a party. Nothing of this is needed to take part with those one has. */
export {
  createEncryptionKeysets,
  type EncryptionKeysets,
  type KeyTemplate,
} from '@measurement-exchange/consent';
export { createRoot, issueLeaf, type Leaf, type Root } from './certificates.ts';
export { createIdentity, type Identity, signEncryptionKey } from './identity.ts';
