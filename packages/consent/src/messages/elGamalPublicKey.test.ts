import { createECDH } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import { specs } from '@measurement-exchange/contract';
import { describe, expect, it } from 'vitest';
import { faultOf } from '../../test/errors.ts';
import { packElGamalPublicKey, unpackElGamalPublicKey } from './elGamalPublicKey.ts';

const ONE = new Uint8Array(32).fill(1, 31);
/** Returns the compressed public key of a secret. */
function pointOf(secret: Uint8Array): Uint8Array {
  const ecdh = createECDH('prime256v1');
  ecdh.setPrivateKey(secret);
  return new Uint8Array(ecdh.getPublicKey(null, 'compressed'));
}
const GENERATOR = pointOf(ONE);
const ELEMENT = pointOf(new Uint8Array(32).fill(7));
const PROOF = new Uint8Array(65).fill(9);
const write = (init: object) =>
  toBinary(
    specs.ElGamalPublicKeySchema,
    create(specs.ElGamalPublicKeySchema, {
      ...{ ellipticCurveId: 415, generator: GENERATOR, element: ELEMENT, proofOfPossession: PROOF },
      ...init,
    }),
  );

describe('an ElGamalPublicKey', () => {
  it('has the curve, its generator, the element and the proof', () => {
    const packed = packElGamalPublicKey({ element: ELEMENT, proof: PROOF });
    expect(packed).toEqual(write({}));
    const { element, proof } = unpackElGamalPublicKey(packed);
    expect([element, proof].map((bytes) => new Uint8Array(bytes))).toEqual([ELEMENT, PROOF]);
  });

  it.each([
    ['another generator', { generator: ELEMENT }],
    ['no generator', { generator: new Uint8Array() }],
    ['another curve', { ellipticCurveId: 714 }],
    ['no curve', { ellipticCurveId: 0 }],
    ['a truncated element', { element: ELEMENT.subarray(1) }],
    ['an element that is not compressed', { element: new Uint8Array(65).fill(4) }],
    ['an element with an invalid first byte', { element: ELEMENT.with(0, 4) }],
    ['no element', { element: new Uint8Array() }],
  ])('with %s is rejected', async (_what, init) => {
    expect(await faultOf(() => unpackElGamalPublicKey(write(init)))).toBe('KEY_NOT_SUPPORTED');
  });

  it('is not packed with a truncated element, and not read from truncated bytes', async () => {
    expect(await faultOf(() => packElGamalPublicKey({ element: ELEMENT.subarray(1), proof: PROOF }))).toBe(
      'KEY_NOT_SUPPORTED',
    );
    expect(await faultOf(() => unpackElGamalPublicKey(write({}).subarray(0, -1)))).toBe('MESSAGE_MALFORMED');
  });
});
