/** Creates a party's keys and certificates. Parties that already have keys and certificates do not need this module. */
export {
  createEncryptionKeysets,
  type EncryptionKeysets,
  type KeyTemplate,
} from '@measurement-exchange/consent';
export { createRoot, issueLeaf, type Leaf, type Root } from './certificates.ts';
export { createIdentity, type Identity, signEncryptionKey } from './identity.ts';
