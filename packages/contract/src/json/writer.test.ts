import { describe, expect, it } from 'vitest';
import { EventGroupInput } from '../codecs/eventGroup.ts';
import { Measurement } from '../codecs/measurement.ts';
import { Requisition } from '../codecs/requisition.ts';
import { parseJson } from './json.ts';
import { array, number, object, optional } from './schema.ts';
import { canonicalJson, exactJson, JsonText, toJson, toJsonChunks, toJsonParts } from './writer.ts';

const bytes = (...values: number[]) => Uint8Array.from(values);

describe('JSON text from a schema', () => {
  it('has the members in the order of the schema, without absent ones', () => {
    const spec = { signature: bytes(1), message: bytes(251, 255), signatureAlgorithm: undefined };
    expect(toJson(Measurement, { state: 'FAILED', name: 'n', measurementSpec: spec } as Measurement)).toBe(
      '{"name":"n","state":"FAILED","measurementSpec":{"message":"+/8=","signature":"AQ=="}}',
    );
    expect(toJson(Requisition, {} as Requisition)).toBe('{}');
  });

  it('has escaped strings and map keys', () => {
    const hostile = 'a"b\\c\n\u2028\ud800';
    const entry = { dataProviderCertificate: hostile };
    const text = toJson(Measurement, { dataProviders: { [hostile]: entry, b: {} } } as never);
    expect(JSON.parse(text)).toEqual({ dataProviders: { [hostile]: entry, b: {} } });
  });

  it('has exact 64-bit integers', () => {
    expect(toJson(Requisition, { nonce: 2n ** 64n - 1n } as Requisition)).toBe(
      '{"nonce":18446744073709551615}',
    );
  });

  it('preserves the number notation of free JSON', () => {
    const json = '{"b":[1,2.50,1e3,18446744073709551615,null,"\\u0001"],"a":{"d":true,"c":"x"}}';
    const metadata = { eventGroupMetadataDescriptor: 'd', metadata: parseJson(json) };
    const input = { encryptedMetadata: { metadata } } as never;
    expect(toJson(EventGroupInput, input)).toContain(`"metadata":${json.replace('\\\\', '\\')}`);
    expect(canonicalJson(EventGroupInput, input)).toContain(
      '{"a":{"c":"x","d":true},"b":[1,2.50,1e3,18446744073709551615,null,"\\u0001"]}',
    );
  });

  it('is the same in canonical form for any order of members', () => {
    const one = { dataProviders: { b: {}, a: { nonceHash: bytes(1) } }, name: 'n' } as never;
    const other = { name: 'n', dataProviders: { a: { nonceHash: bytes(1) }, b: {} } } as never;
    const text = '{"dataProviders":{"a":{"nonceHash":"AQ=="},"b":{}},"name":"n"}';
    expect([one, other].map((value) => canonicalJson(Measurement, value))).toEqual([text, text]);
  });

  it('is split into parts between the items of an array', () => {
    const item = (size: number) => ({
      certificate: 'c',
      encryptedResult: { ciphertext: new Uint8Array(size) },
    });
    const value = { results: [item(6_000), item(1), item(6_000), item(6_000)] } as never;
    const parts = toJsonParts(Measurement, value);
    expect(parts.map((part) => part[0])).toEqual(['{', ',', ',']);
    expect(parts.join('')).toBe(toJson(Measurement, value));
    expect(JSON.parse(parts.join('')).results).toHaveLength(4);
    expect(toJsonParts(Measurement, { results: [] } as never)).toEqual(['{"results":[]}']);
  });

  it('is generated lazily, one array item at a time', () => {
    const list = object({ results: array(Requisition), count: optional(number()) });
    const item = { name: 'n', nonce: 1n } as Requisition;
    for (const value of [
      { results: [item, item, item], count: 1 },
      { results: [], count: 1 },
      { results: [item] },
    ]) {
      expect([...toJsonChunks(list, value)].join('')).toBe(toJson(list, value));
    }
    expect([...toJsonChunks(list, {} as never)]).toEqual(['{}']);
    let read = 0;
    const results = {
      *[Symbol.iterator]() {
        for (; read < 10; read++) yield item;
      },
    };
    const chunks = toJsonChunks(list, { results } as never);
    expect([chunks.next().value, read]).toEqual([`{"results":[${toJson(Requisition, item)}`, 0]);
    expect([chunks.next().value, read]).toEqual([`,${toJson(Requisition, item)}`, 1]);
  });

  it('includes JsonText unchanged, and exactJson keeps numbers exact', () => {
    const json = '{"b": [1, 2.50], "a": 18446744073709551615}';
    const metadata = { eventGroupMetadataDescriptor: 'd', metadata: new JsonText(json) };
    expect(toJson(EventGroupInput, { encryptedMetadata: { metadata } } as never)).toContain(
      `"metadata":${json}`,
    );
    expect(exactJson(parseJson(json))).toBe(json.replaceAll(' ', ''));
  });

  it('throws a TypeError if a value is not the array of its schema', () => {
    expect(() => toJson(Measurement, { results: 'none' } as never)).toThrow(TypeError);
  });
});
