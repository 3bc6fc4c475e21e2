import { describe, expect, it } from 'vitest';
import { Certificate } from '../codecs/certificate.ts';
import { DecodedMessage } from '../codecs/descriptor.ts';
import { Measurement } from '../codecs/measurement.ts';
import { Requisition } from '../codecs/requisition.ts';
import type { Violation } from '../errors/errors.ts';
import { decode } from './codec.ts';
import { parseJson } from './json.ts';
import { integer, object, type TSchema } from './schema.ts';
import { toJson } from './writer.ts';

/** Decodes a text by a schema, and returns the value, or the violations if it is invalid. */
function read(schema: TSchema, text: string, direction: 'request' | 'response' = 'response'): unknown {
  const violations: Violation[] = [];
  const value = decode(schema, parseJson(text), violations, '', direction);
  return value ?? violations.map(({ field, description }) => `${field} ${description}`);
}

describe('a response', () => {
  it('is decoded without unknown fields at every depth, and a request with them is rejected', () => {
    const text = `{"state":"SUCCEEDED","colour":"blue","protocolConfig":{"direct":{"rounds":3},"quantum":{}},
      "results":[{"certificate":"dataProviders/p/certificates/c","weight":1,
        "encryptedResult":{"ciphertext":"AQ==","typeUrl":"t","algorithm":"x"}}]}`;
    expect(read(Measurement, text)).toEqual({
      state: 'SUCCEEDED',
      protocolConfig: { direct: {} },
      results: [
        {
          certificate: 'dataProviders/p/certificates/c',
          encryptedResult: { ciphertext: Uint8Array.of(1), typeUrl: 't' },
        },
      ],
    });
    expect(read(Measurement, text, 'request')).toEqual([
      'colour is not a known field',
      'protocolConfig.direct.rounds is not a known field',
      'protocolConfig.quantum is not a known field',
      'results[0].weight is not a known field',
      'results[0].encryptedResult.algorithm is not a known field',
    ]);
  });

  it('may have unknown enum values, unknown kinds of parties and longer texts', () => {
    const failure = { reason: 'SOLAR_FLARE', message: 'm'.repeat(5000) };
    const text = JSON.stringify({ state: 'PAUSED', name: 'auditors/a/measurements/m', failure });
    expect(read(Measurement, text)).toEqual(JSON.parse(text));
    expect(read(Measurement, text, 'request')).toHaveLength(4);
    const duchies = { 'workers/w': { duchyCertificate: 'workers/w/certificates/c' } };
    expect(read(Requisition, JSON.stringify({ state: 'FULFILLED', duchies }))).toMatchObject({ duchies });
  });

  it('is rejected if a required field is missing or a value is invalid', () => {
    expect(read(Measurement, '{}')).toEqual(['state is required']);
    expect(read(Measurement, '{"state":1}')).toEqual(['state must be a string']);
    expect(read(Measurement, '[]')).toEqual([' must be an object']);
    expect(read(Requisition, '{"state":"FULFILLED","nonce":18446744073709551616}')).toEqual([
      'nonce must be an integer from 0 to 18446744073709551615',
    ]);
    expect(read(Requisition, '{"state":"FULFILLED","nonceHash":"AQ=="}')).toEqual([
      'nonceHash must be 32 bytes in base64 (or 64 hexadecimal digits)',
    ]);
  });

  it('has bytes as a Uint8Array that owns its buffer', () => {
    const text =
      '{"x509Der":"AQI=","subjectKeyIdentifier":"Aw==","notBefore":"2026-01-01T00:00:00Z","notAfter":"2027-01-01T00:00:00Z"}';
    const { x509Der } = read(Certificate, text) as Certificate;
    expect(Object.getPrototypeOf(x509Der)).toBe(Uint8Array.prototype);
    expect(x509Der.buffer.byteLength).toBe(2);
  });

  it('has free JSON as plain JSON, and exact 64-bit integers', () => {
    const text = '{"typeUrl":"t","message":{"ratio":0.5,"big":18446744073709551615,"list":[1,null]}}';
    expect(read(DecodedMessage, text)).toEqual({
      typeUrl: 't',
      message: { ratio: 0.5, big: '18446744073709551615', list: [1, null] },
    });
    const requisition = '{"state":"FULFILLED","nonce":18446744073709551615}';
    const value = read(Requisition, requisition) as Requisition;
    expect(value.nonce).toBe(2n ** 64n - 1n);
    expect(toJson(Requisition, value)).toBe(requisition);
  });
});

describe('an integer field from 1 to 10', () => {
  const schema = object({ n: integer(1, 10) });

  it.each(['1', '10'])('accepts %s', (n) => {
    expect(read(schema, `{"n":${n}}`, 'request')).toEqual({ n: Number(n) });
  });

  it.each(['0', '11', '1.5', '-1', '9007199254740993', '"5"', 'true'])('rejects %s', (n) => {
    expect(read(schema, `{"n":${n}}`, 'request')).toEqual(['n must be an integer from 1 to 10']);
  });

  it('accepts a larger value in a response', () => {
    expect(read(schema, '{"n":11}')).toEqual({ n: 11 });
  });
});
