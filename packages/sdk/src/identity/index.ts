/** Creates the keys and certificates of a party. A party that has its own needs nothing of this. */
export {
  createEncryptionKeysets,
  type EncryptionKeysets,
  type KeyTemplate,
} from '@measurement-exchange/consent';
export { createRoot, issueLeaf, type Leaf, type Root } from './certificates.ts';
export { createIdentity, type Identity, signEncryptionKey } from './identity.ts';
