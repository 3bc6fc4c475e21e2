/**
 * Tests the limits in docs/api.md. A value exactly at a limit passes the check of this limit, even if the request then
 * fails for another reason. A value that is one above the limit is rejected.
 */
import { create, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { checkedErrorOf } from '@measurement-exchange/testkit/errorModel';
import {
  type DevParty,
  measurementRequest,
  type Reply,
  useExchange,
} from '@measurement-exchange/testkit/exchange';
import { castOf } from '@measurement-exchange/testkit/steps';
import { beforeAll, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';

const MIB = 1024 * 1024;

let acme: DevParty;
let streamly: DevParty;
const exchange = useExchange();
beforeAll(() => {
  ({ acme, streamly } = castOf(exchange));
});

const send = (party: DevParty, method: string, path: string, body?: unknown) =>
  exchange.call(party.token, method, `/v2alpha/${party.name}/${path}`, body);
const NONE = 'measurementConsumers/acme/measurements/none';
/** Sends a batchGet of measurements with this body. */
const batchGet = (body: unknown) => send(acme, 'POST', 'measurements:batchGet', body);
const measure = (more: object) =>
  send(acme, 'POST', 'measurements?validateOnly=true', { ...measurementRequest(acme, [streamly]), ...more });
const describeEvents = (more: object, query = '') =>
  send(streamly, 'POST', `eventGroups?validateOnly=true${query}`, {
    measurementConsumer: acme.name,
    ...more,
  });
const describeAttribute = (name: string, more: object = {}) =>
  describeEvents({ attributes: [{ name, type: 'STRING', ...more }] });
const group = (id: string) => ({
  eventGroup: { measurementConsumer: acme.name, name: `${streamly.name}/eventGroups/${id}` },
});
const numbers = (n: number) => Array.from({ length: n }, (_, i) => i);
const register = (...file: object[]) => {
  const set = toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file }));
  const body = { descriptorSet: Buffer.from(set).toString('base64') };
  return send(streamly, 'POST', 'eventGroupMetadataDescriptors?validateOnly=true', body);
};

const INVALID = '400 INVALID_FIELD_VALUE';
it.each<[string, number, (n: number) => Promise<Reply>, at: string, beyond: string]>([
  [
    'bytes of a body',
    4 * MIB,
    (n) => batchGet(`{"names":["${NONE}"]}`.padEnd(n)),
    '404 MEASUREMENT_NOT_FOUND',
    '413 BODY_TOO_LARGE',
  ],
  [
    'keys and values of a body',
    50_000,
    // Subtract three, because the body itself, its key, and the array count as well.
    (n) => batchGet({ names: numbers(n - 3) }),
    INVALID,
    '400 MALFORMED_JSON',
  ],
  [
    'nesting levels of a body',
    64,
    (n) => batchGet(`{"names":${'['.repeat(n - 1)}${']'.repeat(n - 1)}}`),
    INVALID,
    '400 MALFORMED_JSON',
  ],
  ['characters of a key', 1_000, (n) => batchGet({ ['k'.repeat(n)]: 0 }), INVALID, '400 MALFORMED_JSON'],
  [
    'characters of a URL',
    16 * 1024,
    (n) => {
      const path = `/v2alpha/${acme.name}/measurements?pageToken=`;
      return exchange.call(acme.token, 'GET', path.padEnd(n, 'a'));
    },
    INVALID,
    '414 URI_TOO_LONG',
  ],
  [
    'characters of an ID',
    63,
    (n) => send(acme, 'GET', `measurements/${'m'.repeat(n)}`),
    '404 MEASUREMENT_NOT_FOUND',
    '400 MALFORMED_NAME',
  ],
  [
    'measurements of a batch',
    50,
    (n) => batchGet({ names: numbers(n).map(() => NONE) }),
    '404 MEASUREMENT_NOT_FOUND',
    INVALID,
  ],
  [
    'descriptors of a batch',
    50,
    (n) => {
      const names = numbers(n).map((i) => `names=${streamly.name}/eventGroupMetadataDescriptors/d${i}`);
      return send(streamly, 'GET', `eventGroupMetadataDescriptors:batchGet?${names.join('&')}`);
    },
    '404 EVENT_GROUP_METADATA_DESCRIPTOR_NOT_FOUND',
    INVALID,
  ],
  [
    'event groups to create in a batch',
    50,
    (n) => {
      const requests = numbers(n).map(() => ({ eventGroup: { measurementConsumer: acme.name } }));
      return send(streamly, 'POST', 'eventGroups:batchCreate?validateOnly=true', { requests });
    },
    '200',
    INVALID,
  ],
  [
    'event groups to update in a batch',
    50,
    (n) =>
      send(streamly, 'POST', 'eventGroups:batchUpdate', { requests: numbers(n).map((i) => group(`e${i}`)) }),
    '404 EVENT_GROUP_NOT_FOUND',
    INVALID,
  ],
  ['characters of a requestId in a body', 255, (n) => measure({ requestId: 'r'.repeat(n) }), '200', INVALID],
  [
    'characters of a requestId in a query',
    255,
    (n) => describeEvents({}, `&requestId=${'r'.repeat(n)}`),
    '200',
    INVALID,
  ],
  [
    'characters of a measurementReferenceId',
    255,
    (n) => measure({ measurementReferenceId: 'r'.repeat(n) }),
    '200',
    INVALID,
  ],
  [
    'characters of an eventGroupReferenceId',
    255,
    (n) => describeEvents({ eventGroupReferenceId: 'r'.repeat(n) }),
    '200',
    INVALID,
  ],
  [
    'bytes of an encrypted question',
    64 * 1024,
    (n) =>
      measure({
        encryptedQuestion: { ciphertext: Buffer.alloc(n).toString('base64'), typeUrl: 'x/Question' },
      }),
    '200',
    INVALID,
  ],
  [
    'attributes of an event group',
    100,
    (n) => describeEvents({ attributes: numbers(n).map((i) => ({ name: `a${i}`, type: 'INT' })) }),
    '200',
    INVALID,
  ],
  ['characters of the name of an attribute', 128, (n) => describeAttribute('a'.repeat(n)), '200', INVALID],
  [
    'characters of the description of an attribute',
    500,
    (n) => describeAttribute('a', { description: 'x'.repeat(n) }),
    '200',
    INVALID,
  ],
  [
    'example values of an attribute',
    20,
    (n) => describeAttribute('a', { exampleValues: numbers(n).map(String) }),
    '200',
    INVALID,
  ],
  [
    'characters of an example value',
    100,
    (n) => describeAttribute('a', { exampleValues: ['x'.repeat(n)] }),
    '200',
    INVALID,
  ],
  [
    'bytes of a descriptor set',
    MIB,
    (n) => {
      const comment = (length: number) => ({
        name: 'a.proto',
        syntax: 'proto3',
        messageType: [{ name: 'M' }],
        sourceCodeInfo: { location: [{ leadingComments: ' '.repeat(length) }] },
      });
      const set = create(FileDescriptorSetSchema, { file: [comment(n - 100)] });
      // Lengthen the comment by the missing bytes. The length prefixes keep their size, so the new set has exactly n
      // bytes.
      return register(comment(n - 100 + n - toBinary(FileDescriptorSetSchema, set).length));
    },
    '200',
    INVALID,
  ],
  [
    'files of a descriptor set',
    256,
    (n) =>
      register(
        ...numbers(n).map((i) => ({
          name: `f${i}.proto`,
          syntax: 'proto3',
          messageType: [{ name: `M${i}` }],
        })),
      ),
    '200',
    INVALID,
  ],
])('the limit on the %s is %i', async (_what, bound, request, at, beyond) => {
  const outcome = (reply: Reply) => (reply.status === 200 ? '200' : checkedErrorOf(reply));
  expect(outcome(await request(bound))).toBe(at);
  expect(outcome(await request(bound + 1))).toBe(beyond);
});

it('the error names each of 50 unknown top-level fields, and none of 51', async () => {
  const fieldsOf = async (n: number) => {
    const reply = await batchGet(Object.fromEntries(numbers(n).map((i) => [`f${i}`, 0])));
    return reply.json.error.details[1].fieldViolations.map((v: { field: string }) => v.field);
  };
  expect(await fieldsOf(50)).toHaveLength(50);
  expect(await fieldsOf(51)).toEqual(['']);
});

it('a page has at most 1000 items, and 50 by default', async () => {
  await exchange.database.query(
    `INSERT INTO principals (id, issuer, subject, resource, create_time)
     SELECT 'p' || i, 'issuer', i, 'operator', now() FROM generate_series(1, 1001) AS i`,
  );
  const { token } = exchange.dev.operator;
  const lengthOf = async (query: string) =>
    (await exchange.call(token, 'GET', `/v2alpha/principals?${query}`)).json.principals.length;
  expect(await Promise.all(['pageSize=1000', 'pageSize=1001', 'pageSize=0', ''].map(lengthOf))).toEqual([
    1000, 1000, 50, 50,
  ]);
});

it('the body limit and the rate have the documented defaults', () => {
  expect(loadConfig({})).toMatchObject({ bodyLimitBytes: 4 * MIB, rate: { perSecond: 500, burst: 1000 } });
});
