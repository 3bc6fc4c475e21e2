/**
 * Tests requests that no normal client sends, and unusual forms of valid requests. A bad request must be rejected with
 * its documented error, and the exchange must keep working.
 */

import { checkedErrorOf, fingerprint } from '@measurement-exchange/testkit/errorModel';
import {
  type DevParty,
  measurementRequest,
  toJson,
  useExchange,
} from '@measurement-exchange/testkit/exchange';
import { bytesOf, send } from '@measurement-exchange/testkit/rawHttp';
import { castOf, createMeasurement, get, ok, post } from '@measurement-exchange/testkit/steps';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let acme: DevParty;
let streamly: DevParty;
const M = '/v2alpha/measurementConsumers/acme/measurements';
const D = '/v2alpha/dataProviders/streamly/eventGroupMetadataDescriptors';

const exchange = useExchange();
beforeAll(() => {
  ({ acme, streamly } = castOf(exchange));
});
afterAll(async () => {
  await ok(post(exchange, acme, `${acme.name}/measurements`, measurementRequest(acme, [streamly])));
  const logs = (await exchange.logs()).join('');
  expect(logs).not.toMatch(/"level":[56]0/);
  for (const { token } of [acme, streamly]) expect(logs).not.toContain(token.split('.')[2]);
});

/** Sends a request as acme, with exactly these bytes. */
const asAcme = (method: string, target: string, headers: string[] = [], body?: string | Buffer) =>
  send(
    exchange.url,
    bytesOf(method, target, { token: acme.token, headers, ...(body === undefined ? {} : { body }) }),
  );
const JSON_BODY = ['Content-Type: application/json'];

describe('paths', () => {
  it.each([
    // A verb is a literal `:verb` at the end of the path.
    ['POST', `${M}/x:cance`, '404 ROUTE_NOT_FOUND'],
    ['POST', `${M}/x:cancelled`, '404 ROUTE_NOT_FOUND'],
    ['POST', `${M}/x:CANCEL`, '404 ROUTE_NOT_FOUND'],
    ['POST', `${M}/x:cancel:`, '404 ROUTE_NOT_FOUND'],
    ['POST', `${M}/x:`, '404 ROUTE_NOT_FOUND'],
    ['POST', `${M}:cancel`, '404 ROUTE_NOT_FOUND'],
    ['POST', `${M}/x:cancel/`, '404 ROUTE_NOT_FOUND'],
    ['POST', `${M}/x:y:cancel`, '400 MALFORMED_NAME'],
    ['POST', `${M}/x:fulfillDirect`, '404 ROUTE_NOT_FOUND'],
    ['GET', `${M}/x:cancel`, '405 METHOD_NOT_ALLOWED'],
    ['GET', `${M}/x%3Acancel`, '400 MALFORMED_NAME'],
    ['POST', `${M}/x%3Acancel`, '405 METHOD_NOT_ALLOWED'],
    // Percent-encoded characters never act as separators.
    ['GET', `${M}%2Fx`, '404 ROUTE_NOT_FOUND'],
    ['GET', '/v2alpha%2Fwhoami', '404 ROUTE_NOT_FOUND'],
    ['GET', `${M}/x%2Frequisitions`, '400 MALFORMED_NAME'],
    ['GET', `${M}/..%2F..%2Fglobex%2Fmeasurements`, '400 MALFORMED_NAME'],
    ['GET', `${M}/x%00`, '400 MALFORMED_NAME'],
    ['GET', `${M}/%252e`, '400 MALFORMED_NAME'],
    ['GET', `${M}/%c0%ae`, '400 MALFORMED_NAME'],
    ['GET', `${M}/%zz`, '400 MALFORMED_NAME'],
    ['GET', `${M}/%`, '400 MALFORMED_NAME'],
    ['GET', `${M}/%EF%BC%8F`, '400 MALFORMED_NAME'],
    ['GET', `${M}/${'a'.repeat(64)}`, '400 MALFORMED_NAME'],
    ['GET', `${M}/a;b=1`, '400 MALFORMED_NAME'],
    ['GET', '/%zz', '400 MALFORMED_REQUEST'],
    // Dots, double slashes and letter case are not normalized.
    ['GET', `${M}/..`, '400 MALFORMED_NAME'],
    ['GET', `${M}/.`, '400 MALFORMED_NAME'],
    ['GET', `${M}/../../globex/measurements`, '404 ROUTE_NOT_FOUND'],
    ['GET', '/v2alpha/../v2alpha/whoami', '404 ROUTE_NOT_FOUND'],
    ['GET', '/x/../v2alpha/whoami', '404 ROUTE_NOT_FOUND'],
    ['GET', '/v2alpha//whoami', '404 ROUTE_NOT_FOUND'],
    ['GET', '//v2alpha/whoami', '404 ROUTE_NOT_FOUND'],
    ['GET', '/v2alpha/whoami/', '404 ROUTE_NOT_FOUND'],
    ['GET', '/v2alpha/whoami#x', '404 ROUTE_NOT_FOUND'],
    ['GET', '/v2alpha/WHOAMI', '404 ROUTE_NOT_FOUND'],
    ['GET', '/V2ALPHA/whoami', '404 ROUTE_NOT_FOUND'],
    ['GET', '/v2alpha', '404 ROUTE_NOT_FOUND'],
    ['GET', '/v2alpha/', '404 ROUTE_NOT_FOUND'],
    ['GET', '/v2alpha/__proto__', '404 ROUTE_NOT_FOUND'],
    ['GET', '/', '404 ROUTE_NOT_FOUND'],
    ['GET', `${M}?pageToken=${'a'.repeat(16_384)}`, '414 URI_TOO_LONG'],
    ['GET', `/${'a'.repeat(16_384)}`, '414 URI_TOO_LONG'],
  ])('%s %s returns %s', async (method, path, wanted) => {
    expect(checkedErrorOf(await asAcme(method, path))).toBe(wanted);
  });

  it('without a token, all paths return the same 401 response, whether the route exists or not', async () => {
    const paths = [M, `${M}/x:nonsense`, '/v2alpha', '/v2alpha/', '/v2alpha/nowhere', `${M}/%00`];
    const requests = ['GET', 'PROPFIND', 'DELETE'].flatMap((method) =>
      paths.map((path) => bytesOf(method, path)),
    );
    const replies = await Promise.all(requests.map((request) => send(exchange.url, request)));
    expect(new Set(replies.map(checkedErrorOf))).toEqual(new Set(['401 TOKEN_INVALID']));
    expect(new Set(replies.map(fingerprint)).size).toBe(1);
  });
});

describe('methods', () => {
  it.each([
    'DELETE',
    'PUT',
    'PATCH',
    'OPTIONS',
    'TRACE',
    'PROPFIND',
    'MKCOL',
    'PURGE',
    'QUERY',
    'SEARCH',
    'LINK',
  ])('%s on a path that does not allow it returns 405 with the Allow header', async (method) => {
    const reply = await asAcme(method, M);
    expect(checkedErrorOf(reply)).toBe('405 METHOD_NOT_ALLOWED');
    expect(reply.headers.get('allow')!.split(', ').sort()).toEqual(['GET', 'POST']);
  });

  it('HEAD is rejected with 405 and an empty body', async () => {
    const reply = await asAcme('HEAD', M);
    expect([reply.status, reply.text, reply.headers.get('allow')]).toEqual([405, '', 'POST, GET']);
  });

  it.each(['FOO', 'get', 'CONNECT', 'GET\t', ''])('%j is rejected as an invalid method', async (method) => {
    const reply = await asAcme(method, M);
    expect(checkedErrorOf(reply)).toBe('400 MALFORMED_REQUEST');
    expect(reply.closed).toBe(true);
  });
});

describe('bodies', () => {
  it.each<[title: string, body: string | Buffer, wanted: string]>([
    ['duplicate keys', '{"measurementReferenceId":"a","measurementReferenceId":"b"}', '400 MALFORMED_JSON'],
    ['duplicate keys, one escaped', '{"ab":1,"\\u0061b":2}', '400 MALFORMED_JSON'],
    ['arrays 10,000 deep', '['.repeat(10_000) + ']'.repeat(10_000), '400 MALFORMED_JSON'],
    ['objects 10,000 deep', '{"a":'.repeat(10_000), '400 MALFORMED_JSON'],
    ['half a surrogate pair', '{"measurementReferenceId":"\\ud800"}', '400 MALFORMED_JSON'],
    ['the other half of a surrogate pair', '{"measurementReferenceId":"\\udc00x"}', '400 MALFORMED_JSON'],
    ['an escaped NUL', '{"measurementReferenceId":"\\u0000"}', '400 MALFORMED_JSON'],
    ['a raw NUL', '{"measurementReferenceId":"\0"}', '400 MALFORMED_JSON'],
    ['the key __proto__', '{"__proto__":{"admin":true}}', '400 MALFORMED_JSON'],
    ['a nested key __proto__', '{"measurementSpec":{"__proto__":{}}}', '400 MALFORMED_JSON'],
    ['the key constructor', '{"constructor":{"prototype":{"admin":true}}}', '400 INVALID_FIELD_VALUE'],
    ['the key toString in a map', '{"dataProviders":{"toString":{}}}', '400 INVALID_FIELD_VALUE'],
    ['bytes that are not UTF-8', Buffer.from('{"a":"\xff"}', 'latin1'), '400 MALFORMED_JSON'],
    ['an overlong UTF-8 form', Buffer.from([0x22, 0xc0, 0xaf, 0x22]), '400 MALFORMED_JSON'],
    ['UTF-16', Buffer.from('{}', 'utf16le'), '400 MALFORMED_JSON'],
    ['a byte order mark', '\ufeff{}', '400 MALFORMED_JSON'],
    ['trailing data', '{}{}', '400 MALFORMED_JSON'],
    ['half an object', '{"a":', '400 MALFORMED_JSON'],
    ['only whitespace', '   ', '400 MALFORMED_JSON'],
    ['a comment', '{/**/}', '400 MALFORMED_JSON'],
    ['a trailing comma', '{"a":1,}', '400 MALFORMED_JSON'],
    ['NaN', '{"a":NaN}', '400 MALFORMED_JSON'],
    ['a number of a million digits', `{"a":${'9'.repeat(1_000_000)}}`, '400 MALFORMED_JSON'],
    ['a key of a million characters', `{"${'k'.repeat(1_000_000)}":1}`, '400 MALFORMED_JSON'],
    ['a key of a million underscores', `{"${'_a'.repeat(1_000_000)}":1}`, '400 MALFORMED_JSON'],
    ['a list', '[]', '400 INVALID_FIELD_VALUE'],
    ['null', 'null', '400 INVALID_FIELD_VALUE'],
    ['text', '"text"', '400 INVALID_FIELD_VALUE'],
    ['a number out of range', '1e400', '400 INVALID_FIELD_VALUE'],
    ['an unknown field', '{"measurementSpek":{}}', '400 INVALID_FIELD_VALUE'],
    ['a field in both spellings', '{"measurement_spec":{},"measurementSpec":{}}', '400 INVALID_FIELD_VALUE'],
    ['base64 with a blank', '{"measurementSpec":{"message":"AA AA"}}', '400 INVALID_FIELD_VALUE'],
    ['base64 with wrong padding', '{"measurementSpec":{"message":"AAA=="}}', '400 INVALID_FIELD_VALUE'],
    ['base64 with stray bits', '{"measurementSpec":{"message":"AB=="}}', '400 INVALID_FIELD_VALUE'],
    ['base64 in two alphabets', '{"measurementSpec":{"message":"-_+/"}}', '400 INVALID_FIELD_VALUE'],
    ['no content', '', '400 REQUIRED_FIELD_NOT_SET'],
    ['24,000 unknown fields', manyFields('{'), '400 INVALID_FIELD_VALUE'],
    ['24,000 fields beside the wrapper', manyFields('{"measurement":{},'), '400 INVALID_FIELD_VALUE'],
    ['24,000 fields in the wrapper', `{"measurement":${manyFields('{')}}`, '400 INVALID_FIELD_VALUE'],
    ['24,000 empty entries', manyEntries(), '400 REQUIRED_FIELD_NOT_SET'],
    ['too many values', `[${'0,'.repeat(49_999)}0]`, '400 MALFORMED_JSON'],
    ['a list of the maximum size', `[${'0,'.repeat(49_998)}0]`, '400 INVALID_FIELD_VALUE'],
  ])('with %s are rejected', async (_title, body, wanted) => {
    const began = process.cpuUsage();
    expect(checkedErrorOf(await asAcme('POST', M, JSON_BODY, body))).toBe(wanted);
    // A body must not block other requests for long. Without limits, some of these bodies take 3 s or 8 s. Measure
    // processor time, because it does not depend on other work on the machine.
    const { user, system } = process.cpuUsage(began);
    expect((user + system) / 1e6).toBeLessThan(2);
  });

  it('must be uncompressed JSON in UTF-8', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/jsonp',
      'application/vnd.api+json',
      'application/json, text/plain',
      'application/json; charset=utf-16',
      'application/json;a=b;charset="latin1"',
      'application/json; charset=utf-8x',
      'json',
      '/',
      '',
    ]) {
      const reply = await asAcme('POST', M, [`Content-Type: ${type}`], '{}');
      expect(checkedErrorOf(reply), type).toBe('415 UNSUPPORTED_MEDIA_TYPE');
    }
    expect(checkedErrorOf(await asAcme('POST', M, [], '{}'))).toBe('415 UNSUPPORTED_MEDIA_TYPE');
    for (const coding of ['gzip', 'deflate', 'br', 'zstd', 'identity', 'gzip, gzip']) {
      const reply = await asAcme('POST', M, [...JSON_BODY, `Content-Encoding: ${coding}`], '{}');
      expect(checkedErrorOf(reply), coding).toBe('415 UNSUPPORTED_MEDIA_TYPE');
    }
    for (const type of [
      'APPLICATION/JSON',
      'application/json;charset=utf-8',
      'application/json; charset="UTF-8"',
      'application/json; charset=utf8; a=b',
    ]) {
      const reply = await asAcme('POST', M, [`Content-Type: ${type}`], '{}');
      expect(checkedErrorOf(reply), type).toBe('400 REQUIRED_FIELD_NOT_SET');
    }
  });

  it('are ignored if the operation has no body', async () => {
    for (const body of ['{}', '{"a":1,"a":', Buffer.from([0xff])]) {
      expect((await asAcme('GET', '/v2alpha/whoami', JSON_BODY, body)).status).toBe(200);
    }
  });

  it('of a verb that needs none can be missing, empty, {} or in chunks', async () => {
    const chunked = [...JSON_BODY, 'Transfer-Encoding: chunked'];
    for (const [headers, body] of [
      [[], undefined],
      [['Content-Length: 0'], undefined],
      [[...JSON_BODY, 'Content-Length: 0'], undefined],
      [JSON_BODY, '{}'],
      [JSON_BODY, ' { } '],
      [chunked, '0\r\n\r\n'],
      [chunked, '1\r\n{\r\n1;extension=x\r\n}\r\n0\r\nTrailer: x\r\n\r\n'],
    ] as [string[], string | undefined][]) {
      const { name } = await createMeasurement(exchange, acme, [streamly]);
      const reply = await asAcme('POST', `/v2alpha/${name}:cancel`, headers, body);
      expect([reply.status, reply.json?.state], reply.text).toEqual([200, 'CANCELLED']);
    }
  });

  it('in chunks of 7 bytes are read completely', async () => {
    const whole = Buffer.from(
      toJson({ ...measurementRequest(acme, [streamly]), measurementReferenceId: 'é€😀' }),
    );
    const pieces = Array.from({ length: Math.ceil(whole.length / 7) }, (_, i) =>
      whole.subarray(i * 7, i * 7 + 7),
    );
    const body = Buffer.concat([
      ...pieces.flatMap((p) => [Buffer.from(`${p.length.toString(16)}\r\n`), p, Buffer.from('\r\n')]),
      Buffer.from('0\r\n\r\n'),
    ]);
    const reply = await asAcme('POST', M, [...JSON_BODY, 'Transfer-Encoding: chunked'], body);
    expect([reply.status, reply.json?.measurementReferenceId], reply.text).toEqual([200, 'é€😀']);
  });

  it('do not pollute the prototype of objects', async () => {
    await asAcme('POST', M, JSON_BODY, '{"constructor":{"prototype":{"admin":true}}}');
    await asAcme('POST', D, JSON_BODY, '{"descriptorSet":{"constructor":{"prototype":{"admin":true}}}}');
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });
});

function manyFields(start: string): string {
  return `${start}${Array.from({ length: 24_000 }, (_, i) => `"k_a${i}":1`).join(',')}}`;
}
function manyEntries(): string {
  return `{"dataProviders":{${Array.from({ length: 24_000 }, (_, i) => `"dataProviders/d${i}":{}`).join(',')}}}`;
}

describe('queries', () => {
  it.each([
    'pageSize=-1',
    'pageSize=-99999999999999999999',
    'pageSize=1.5',
    'pageSize=1e3',
    'pageSize=0x10',
    'pageSize=ten',
    'pageSize=%D9%A3',
    'pageSize=1&pageSize=1',
    'pageSize=1&page_size=1',
    'pageSize=%00',
    'pageSize=%ff',
    'pageSize=%',
    'page%00Size=1',
    'pagesize=1',
    '__proto__=1',
    'constructor=1',
    '=',
    '&',
    'filter.states=NONE',
    'filter.states=',
    'filter.states=FAILED%00',
    'filter.updatedAfter=yesterday',
    'filter.updatedAfter=infinity',
    'filter.updatedAfter=2026-02-30T00:00:00Z',
    'filter.updatedAfter=0000-01-01T00:00:00Z',
    'filter.updatedAfter=2026-01-01T00:00:00%2B99:99',
    `pageToken=${'A'.repeat(2001)}`,
    'validateOnly=true',
  ])('%s is rejected', async (query) => {
    expect(checkedErrorOf(await asAcme('GET', `${M}?${query}`))).toBe('400 INVALID_FIELD_VALUE');
  });

  it.each(['pageSize=', 'pageSize=0', 'pageSize=1000000', 'pageSize=99999999999999999999', 'pageToken='])(
    '%s is accepted',
    async (query) => {
      expect((await asAcme('GET', `${M}?${query}`)).status).toBe(200);
    },
  );

  it('2,000 unknown parameters are rejected', async () => {
    const query = Array.from({ length: 2_000 }, (_, i) => `q${i}`).join('&');
    expect(checkedErrorOf(await asAcme('GET', `${M}?${query}`))).toBe('400 INVALID_FIELD_VALUE');
  });

  it('page tokens with altered, missing or additional bytes are rejected', async () => {
    for (let i = 0; i < 2; i++) await createMeasurement(exchange, acme, [streamly]);
    const list = `${acme.name}/measurements?pageSize=1`;
    const { nextPageToken: token } = await get(exchange, acme, list);
    const bytes = Buffer.from(token, 'base64url');
    const altered = [...bytes.keys()].map((i) => {
      const copy = Buffer.from(bytes);
      copy[i]! ^= 1 << (i % 8);
      return copy.toString('base64url');
    });
    const cut = [1, 15, 16, 17, bytes.length - 1].map((n) => bytes.subarray(0, n).toString('base64url'));
    const longer = [`${token}A`, `${token}AAAA`, `${token}=`, `${token}%20`, `A${token}`, `${token}${token}`];
    const foreign = [
      'x',
      'null',
      '%5B%5D',
      bytes.toString('base64').replaceAll('+', '%2B'),
      token.toLowerCase(),
    ];
    for (const bad of [...altered, ...cut, ...longer, ...foreign]) {
      if (bad === token) continue;
      const reply = await asAcme('GET', `/v2alpha/${list}&pageToken=${bad}`);
      expect(checkedErrorOf(reply), bad).toBe('400 INVALID_PAGE_TOKEN');
    }
    expect((await asAcme('GET', `/v2alpha/${list}&pageToken=${token}`)).status).toBe(200);
  });
});
