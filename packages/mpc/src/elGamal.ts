/**
 * Entry point for ElGamal encryption over P-256, on batches of compressed points. Protocols with encrypted sketches use
 * it.
 */
export { POINT_BYTES, PointError } from './curve/affine.ts';
export { BATCH, Curve } from './curve/curve.ts';
export { mapToCurve } from './curve/mapToCurve.ts';
export { drawScalars, SCALAR_BYTES } from './curve/scalars.ts';
export { areZero, CIPHERTEXT_BYTES, Ciphertexts, ElGamalError, type Layout } from './elGamal/elGamal.ts';
export { combineKeys, type ElGamalKeyPair, ElGamalPublicKey, newKeyPair } from './elGamal/keys.ts';
export { isProven, type ProofContext, proveSecret } from './elGamal/proof.ts';
