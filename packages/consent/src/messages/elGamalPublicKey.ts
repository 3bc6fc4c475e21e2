/** Serializes and parses the ElGamalPublicKey of a duchy in a Liquid Legions computation. */
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { type BindingSchema, equalBytes, fromHex, specs } from '@measurement-exchange/contract';
import { asBytes, type Bytes } from '../base/bytes.ts';
import { ConsentError } from '../base/errors.ts';
import { fromWire } from '../base/wire.ts';

/** The number of the curve P-256 in OpenSSL. Messages identify the curve by this number. */
const PRIME256V1 = 415;
const COMPRESSED_POINT_BYTES = 33;
const GENERATOR = fromHex('036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296')!;

export function packElGamalPublicKey({
  element,
  proof,
  binding,
}: {
  element: Uint8Array;
  proof: Uint8Array;
  binding?: MessageInitShape<typeof BindingSchema>;
}): Uint8Array {
  const key = create(specs.ElGamalPublicKeySchema, {
    ellipticCurveId: PRIME256V1,
    generator: GENERATOR,
    element: requireCompressed(element),
    proofOfPossession: proof,
    ...(binding && { binding }),
  });
  return toBinary(specs.ElGamalPublicKeySchema, key);
}

/**
 * Parses an ElGamalPublicKey. The caller must still check that the element is a point on the curve, and that the proof
 * is valid.
 */
export function unpackElGamalPublicKey(bytes: Uint8Array) {
  const { ellipticCurveId, generator, element, proofOfPossession, binding } = fromWire(
    specs.ElGamalPublicKeySchema,
    bytes,
    'MESSAGE_MALFORMED',
    'The ElGamalPublicKey',
  );
  if (ellipticCurveId !== PRIME256V1) {
    throw new ConsentError(
      'KEY_NOT_SUPPORTED',
      `The ElGamalPublicKey has the curve ${ellipticCurveId}, but only prime256v1 (${PRIME256V1}) is supported.`,
    );
  }
  if (!equalBytes(generator, GENERATOR)) {
    throw new ConsentError(
      'KEY_NOT_SUPPORTED',
      'The ElGamalPublicKey does not have the standard generator of prime256v1.',
    );
  }
  return { element: requireCompressed(element), proof: asBytes(proofOfPossession), binding };
}

function requireCompressed(element: Uint8Array): Bytes {
  if (element.length === COMPRESSED_POINT_BYTES && (element[0] === 2 || element[0] === 3))
    return asBytes(element);
  throw new ConsentError(
    'KEY_NOT_SUPPORTED',
    `The element of the ElGamalPublicKey must be a compressed point: ${COMPRESSED_POINT_BYTES} bytes that begin with 2 or 3.`,
  );
}
