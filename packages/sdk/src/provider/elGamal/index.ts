/** ElGamal over P-256, on batches of compressed points: what the protocols on encrypted sketches are made of. */
export { POINT_BYTES, PointError } from './affine.ts';
export { BATCH, Curve } from './curve.ts';
export { areZero, CIPHERTEXT_BYTES, Ciphertexts, ElGamalError, type Layout } from './elGamal.ts';
export { combineKeys, type ElGamalKeyPair, ElGamalPublicKey, newKeyPair } from './keys.ts';
export { mapToCurve } from './mapToCurve.ts';
export { publishedKey, readPublishedKey } from './publishedKey.ts';
export { drawScalars, SCALAR_BYTES } from './scalars.ts';
