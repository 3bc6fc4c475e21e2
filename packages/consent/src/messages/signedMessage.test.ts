import { create, toBinary } from '@bufbuild/protobuf';
import { SIGNATURE_ALGORITHMS, specs, TYPE_URLS, toBase64 } from '@measurement-exchange/contract';
import { rounds } from '@measurement-exchange/testkit/rounds';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { errorOf, faultOf } from '../../test/errors.ts';
import { packEncryptionPublicKey, unpackEncryptionPublicKey } from './publicKey.ts';
import { packSignedMessage, unpackSignedMessage } from './signedMessage.ts';

const utf8 = (text: string) => new TextEncoder().encode(text);
const plain = (signed: object) =>
  Object.fromEntries(
    Object.entries(signed).map(([key, value]) => [
      key,
      value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
    ]),
  );
const message = utf8('the spec');
const signature = utf8('the signature');
const OID = SIGNATURE_ALGORITHMS.ECDSA_P256_SHA256.oid;
const write = (init: Parameters<typeof create<typeof specs.SignedMessageSchema>>[1]) =>
  toBinary(specs.SignedMessageSchema, create(specs.SignedMessageSchema, init));

describe('a SignedMessage', () => {
  it('has the bytes that the format prescribes, with the message in both data and message', () => {
    const packed = packSignedMessage(
      { message: utf8('M'), signature: utf8('S'), signatureAlgorithm: 'ECDSA_P256_SHA256' },
      'T',
    );
    const oid = Buffer.from(OID).toString('hex');
    expect(Buffer.from(packed).toString('hex')).toBe(`0a014d120153${`1a13${oid}`}22060a01541201${'4d'}`);
  });

  it('is unpacked with its type and the OID of its algorithm', () => {
    const signed = { message, signature, signatureAlgorithm: 'ECDSA_P256_SHA256' };
    const packed = packSignedMessage(signed, TYPE_URLS.RequisitionSpec);
    expect(plain(unpackSignedMessage(packed))).toEqual({
      message: 'the spec',
      signature: 'the signature',
      signatureAlgorithm: OID,
      typeUrl: TYPE_URLS.RequisitionSpec,
    });
  });

  it('is unchanged after packing and unpacking any message, with and without an algorithm', () => {
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 200 });
    const algorithm = fc.constantFrom(
      undefined,
      ...Object.values(SIGNATURE_ALGORITHMS).map(({ oid }) => oid),
    );
    fc.assert(
      fc.property(bytes, bytes, algorithm, (m, s, signatureAlgorithm) => {
        const signed = { message: m, signature: s, ...(signatureAlgorithm && { signatureAlgorithm }) };
        const unpacked = unpackSignedMessage(packSignedMessage(signed, 'T'));
        expect(plain(unpacked)).toEqual({ ...plain(signed), typeUrl: 'T' });
      }),
    );
  });

  it('is read from data if there is no message, and from message if there are both', () => {
    expect(plain(unpackSignedMessage(write({ data: message, signature })))).toEqual({
      message: 'the spec',
      signature: 'the signature',
    });
    const both = write({ data: utf8('other'), message: { typeUrl: 'T', value: message }, signature });
    expect(plain(unpackSignedMessage(both))).toMatchObject({ message: 'the spec', typeUrl: 'T' });
    // An Any without a value still takes precedence over `data`, so the message is empty.
    const empty = write({ data: message, message: { typeUrl: 'T' }, signature });
    expect(() => unpackSignedMessage(empty)).toThrow('has no message');
  });

  it('keeps the bytes of a message even if its encoding is not canonical', () => {
    // Use bytes that no current encoder would write: a field out of order, a varint longer than needed, and an unknown
    // field.
    const odd = Buffer.from('18818080000a00f80101', 'hex');
    const packed = write({ message: { typeUrl: 'T', value: odd }, signature });
    expect(Buffer.from(unpackSignedMessage(packed).message)).toEqual(odd);
  });

  it('keeps an unknown OID of the signature algorithm', () => {
    const packed = write({ data: message, signature, signatureAlgorithmOid: '1.2.3' });
    expect(unpackSignedMessage(packed).signatureAlgorithm).toBe('1.2.3');
    const again = packSignedMessage(unpackSignedMessage(packed), 'T');
    expect(unpackSignedMessage(again).signatureAlgorithm).toBe('1.2.3');
  });

  it('is read from JSON when it begins with a brace', () => {
    const json = { message: toBase64(message), signature: toBase64(signature) };
    const read = (value: object) => plain(unpackSignedMessage(utf8(JSON.stringify(value))));
    expect(read(json)).toEqual({ message: 'the spec', signature: 'the signature' });
    for (const signatureAlgorithm of ['ECDSA_P256_SHA256', OID]) {
      expect(read({ ...json, signatureAlgorithm })).toMatchObject({ signatureAlgorithm });
    }
  });

  it.each([
    ['no bytes', new Uint8Array()],
    ['no signature', write({ data: message })],
    ['no message', write({ signature })],
    ['text instead of protobuf', utf8('hello')],
    ['an extra byte', Buffer.concat([write({ data: message, signature }), Buffer.of(0)])],
    ['a missing byte', write({ data: message, signature }).subarray(0, -1)],
    ['a field of another type', Buffer.from('0801', 'hex')],
    ['truncated JSON', utf8('{"message":')],
    ['JSON without a signature', utf8('{"message":"AAAA"}')],
    ['JSON with an empty message', utf8('{"message":"","signature":"AAAA"}')],
    ['JSON with bytes that are not base64', utf8('{"message":"A*","signature":"AAAA"}')],
    [
      'JSON with an unknown algorithm',
      utf8('{"message":"AAAA","signature":"AAAA","signatureAlgorithm":"X"}'),
    ],
  ])('with %s is rejected', async (_title, bytes) => {
    const error = await errorOf(() => unpackSignedMessage(bytes));
    expect(error.code).toBe('MESSAGE_MALFORMED');
    expect(error.message).toContain('SignedMessage');
  });

  it('is read from arbitrary or damaged bytes, or rejected with MESSAGE_MALFORMED', async () => {
    const good = packSignedMessage({ message, signature }, 'T');
    const damaged = fc.tuple(fc.nat({ max: good.length - 1 }), fc.nat({ max: 255 })).map(([at, byte]) => {
      const copy = Uint8Array.from(good);
      copy[at] = byte;
      return copy;
    });
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.uint8Array({ maxLength: 60 }), damaged), async (bytes) => {
        try {
          expect(unpackSignedMessage(bytes).message.length).toBeGreaterThan(0);
        } catch (error) {
          expect(await faultOf(() => Promise.reject(error))).toBe('MESSAGE_MALFORMED');
        }
      }),
      { numRuns: rounds(500) },
    );
  });
});

describe('an EncryptionPublicKey', () => {
  it('is packed as the keyset after five bytes, and unpacked to the same keyset', () => {
    const keyset = new Uint8Array(229).fill(7);
    const packed = packEncryptionPublicKey(keyset);
    expect(Buffer.from(packed)).toEqual(Buffer.concat([Buffer.from('080112e501', 'hex'), keyset]));
    expect(unpackEncryptionPublicKey(packed)).toEqual(keyset);
  });

  it('in another format or damaged is rejected', async () => {
    const faults = ['12020001', '0802120101', '080112', '0a0101', '08011201', 'ff'].map((hex) =>
      faultOf(() => unpackEncryptionPublicKey(Buffer.from(hex, 'hex'))),
    );
    expect(await Promise.all(faults)).toEqual([
      'KEY_NOT_SUPPORTED',
      'KEY_NOT_SUPPORTED',
      ...Array(4).fill('MESSAGE_MALFORMED'),
    ]);
  });
});
