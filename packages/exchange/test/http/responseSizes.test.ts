/** Tests the limits of responses: a page has a limit of bytes, and a batch has a limit of bytes and one of 50 names. */
import { randomBytes } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorSetSchema,
} from '@bufbuild/protobuf/wkt';
import {
  type DevParty,
  fulfillment,
  measurementRequest,
  type Reply,
  UNLIMITED,
  useExchange,
} from '@measurement-exchange/testkit/exchange';
import { asOperator } from '@measurement-exchange/testkit/operator';
import { ok } from '@measurement-exchange/testkit/steps';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { MAX_BATCH_BYTES, MAX_PAGE_BYTES } from '../../src/operations/paging.ts';

// Outside of `npm run stress`, reduce the limits of 8 and 64 MiB to a sixteenth. Another test checks the real limits.
vi.mock('../../src/operations/paging.ts', async (original) => {
  const paging = await original<typeof import('../../src/operations/paging.ts')>();
  const { isStress } = await import('@measurement-exchange/testkit/rounds');
  if (isStress) return paging;
  return {
    ...paging,
    MAX_PAGE_BYTES: paging.MAX_PAGE_BYTES / 16,
    MAX_BATCH_BYTES: paging.MAX_BATCH_BYTES / 16,
  };
});

/**
 * The size of a large field in bytes. The base64 text of the field takes about 3.5/8 of a page, so a page has room for
 * two such fields. A batch is as large as eight pages, so a batch has room for 18.
 */
const LARGE = Math.floor((2.6 / 8) * MAX_PAGE_BYTES);

let acme: DevParty;
let globex: DevParty;
let streamly: DevParty;
let chirper: DevParty;

const exchange = useExchange({ rate: UNLIMITED, logLevel: 'warn' });
beforeAll(() => {
  [acme, globex] = exchange.dev.measurementConsumers as [DevParty, DevParty];
  [streamly, chirper] = exchange.dev.dataProviders as [DevParty, DevParty];
});

function get(reader: DevParty, path: string): Promise<Reply> {
  return exchange.call(reader.token, 'GET', `/v2alpha/${path}`);
}

// biome-ignore lint/suspicious/noExplicitAny: tests access arbitrary fields of replies
async function post(caller: DevParty, path: string, body?: unknown): Promise<any> {
  const reply = await exchange.call(caller.token, 'POST', `/v2alpha/${path}`, body);
  expect(reply.status, reply.text.slice(0, 1000)).toBe(200);
  return reply.json;
}

type Request = ReturnType<typeof measurementRequest>;

async function createMeasurement(consumer: DevParty, change: (request: Request) => void = () => {}) {
  const request = measurementRequest(consumer, [streamly]);
  change(request);
  return (await post(consumer, `${consumer.name}/measurements`, request)) as {
    name: string;
    createTime: string;
  };
}

async function fulfil(measurement: { name: string }, consumer: DevParty, change: object): Promise<void> {
  const [requisition] = (await get(consumer, `${measurement.name}/requisitions`)).json.requisitions;
  const path = `${streamly.name}/requisitions/${requisition.name.split('/').at(-1)}`;
  await post(streamly, `${path}:fulfillDirect`, { ...fulfillment(streamly, requisition, 1n), ...change });
}

/** Returns the pages of a list, each with its size in bytes. */
async function pages(
  reader: DevParty,
  path: string,
  query: string,
): Promise<{ names: string[]; bytes: number }[]> {
  const found: { names: string[]; bytes: number }[] = [];
  for (let token: string | undefined = ''; token !== undefined; ) {
    const reply = await get(reader, `${path}?${query}&pageToken=${token}`);
    const rows: { name: string }[] = reply.json[path.split('/').at(-1)!];
    found.push({ names: rows.map((row) => row.name), bytes: Buffer.byteLength(reply.text) });
    token = reply.json.nextPageToken;
  }
  return found;
}

const large = () => randomBytes(LARGE).toString('base64');
const largeResult = () => ({ encryptedResult: { ciphertext: large(), typeUrl: 'result' } });
/** The names of measurements of globex, each with one large field. */
const largest: string[] = [];
const entry = (request: Request) => request.dataProviders[streamly.name]!;

/**
 * The fields that are allowed to be large. Each key describes the contents of a field, and its function fills the field
 * in a request. The function for results does nothing, because the test adds the result when it fulfills a requisition.
 */
const LARGE_FIELDS: Record<string, (request: Request) => void> = {
  'requisition specs': (request) => {
    entry(request).encryptedRequisitionSpec.ciphertext = large();
  },
  'public keys': (request) => {
    entry(request).dataProviderPublicKey.data = large();
  },
  'measurement specs': (request) => {
    request.measurementSpec.message = large();
  },
  signatures: (request) => {
    request.measurementSpec.signature = large();
  },
  results: () => {},
};

describe('a page', () => {
  it('of measurements or requisitions stays within its byte limit, whichever field is large', async () => {
    const { createTime } = await createMeasurement(globex);
    for (const [field, change] of Object.entries(LARGE_FIELDS)) {
      const created = await createMeasurement(globex, change);
      if (field === 'results') await fulfil(created, globex, largeResult());
      largest.push(created.name);
    }
    const measurements = await pages(
      globex,
      `${globex.name}/measurements`,
      `pageSize=6&filter.createdAfter=${createTime}`,
    );
    expect(measurements.flatMap((page) => page.names)).toEqual(largest);
    // If the exchange ignored the size of one of these large fields, a page would have three measurements.
    expect(measurements.map((page) => page.names.length)).toEqual([2, 2, 1]);
    const requisitions = await pages(
      streamly,
      `${streamly.name}/requisitions`,
      `pageSize=50&filter.states=UNFULFILLED&filter.updatedAfter=${createTime}`,
    );
    expect(requisitions.map((page) => page.names.length)).toEqual([2, 2]);
    for (const { bytes } of [...measurements, ...requisitions])
      expect(bytes).toBeLessThanOrEqual(MAX_PAGE_BYTES);
  });

  it('of requisitions that repeat a large measurement spec stays within its byte limit', async () => {
    const request = measurementRequest(acme, exchange.dev.dataProviders);
    request.measurementSpec.message = large();
    const { name } = await post(acme, `${acme.name}/measurements`, request);
    const found = await pages(acme, `${name}/requisitions`, 'pageSize=50');
    expect(found.map((page) => page.names.length)).toEqual([2, 1]);
    for (const { bytes } of found) expect(bytes).toBeLessThanOrEqual(MAX_PAGE_BYTES);
  });

  it('of event groups with large metadata stays within its byte limit', async () => {
    const names: string[] = [];
    for (let i = 0; i < 4; i++) {
      const { name } = await post(streamly, `${streamly.name}/eventGroups`, {
        measurementConsumer: acme.name,
        encryptedMetadata: { ciphertext: large(), typeUrl: 'x' },
        measurementConsumerPublicKey: { '@type': 'x/y', data: 'AA==' },
      });
      names.push(name);
    }
    const found = await pages(streamly, `${streamly.name}/eventGroups`, 'pageSize=1000');
    expect(found.flatMap((page) => page.names)).toEqual(names);
    expect(found.map((page) => page.names.length)).toEqual([2, 2]);
    for (const { bytes } of found) expect(bytes).toBeLessThanOrEqual(MAX_PAGE_BYTES);
  });

  it('of populations with many model lines exceeds its byte limit by at most 10 %', async () => {
    const modelLines = (n: number) => Array.from({ length: 250 }, (_, i) => `${n}/${i}/`.padEnd(255, 'é'));
    const names: string[] = [];
    for (let n = 0; names.length * 125_000 < 1.2 * MAX_PAGE_BYTES; n++) {
      const body = { vidRanges: [{ start: 1, end: 9 }], modelLines: modelLines(n) };
      const { name } = await ok(asOperator(exchange, 'POST', `populations?populationId=large${n}`, body));
      names.push(name);
    }
    const operator = { ...acme, token: exchange.dev.operator.token };
    const found = await pages(operator, 'populations', 'pageSize=1000');
    expect(found.flatMap((page) => page.names)).toEqual(names);
    expect(found).toHaveLength(2);
    for (const { bytes } of found) expect(bytes).toBeLessThanOrEqual(1.1 * MAX_PAGE_BYTES);
  });

  it('of requisitions with large fulfillment contexts stays within its byte limit', async () => {
    const { createTime } = await createMeasurement(acme);
    const warnings = Array.from({ length: 100 }, () => '漢'.repeat(1000));
    const count = Math.ceil(1.1 * (MAX_PAGE_BYTES / 300_000));
    for (let i = 0; i < count; i++) {
      await fulfil(await createMeasurement(acme), acme, { fulfillmentContext: { warnings } });
    }
    const query = `pageSize=1000&filter.states=FULFILLED&filter.updatedAfter=${createTime}`;
    const found = await pages(streamly, `${streamly.name}/requisitions`, query);
    expect(found.flatMap((page) => page.names).length).toBe(count);
    expect(found.length).toBeGreaterThan(1);
    for (const { bytes } of found) expect(bytes).toBeLessThanOrEqual(MAX_PAGE_BYTES);
  });

  it.each([
    ['JSON', [2, 2]],
    ['BASE64', [4]],
  ])('of descriptors in %s stays within its byte limit', async (encoding, lengths) => {
    const parent = `${encoding === 'JSON' ? streamly.name : chirper.name}/eventGroupMetadataDescriptors`;
    const owner = encoding === 'JSON' ? streamly : chirper;
    for (let i = 0; i < 4; i++) await post(owner, parent, { descriptorSet: manyFields(MAX_PAGE_BYTES / 16) });
    const found = await pages(owner, parent, `pageSize=50&descriptorSetEncoding=${encoding}`);
    expect(found.map((page) => page.names.length)).toEqual(lengths);
    for (const { bytes } of found) expect(bytes).toBeLessThanOrEqual(MAX_PAGE_BYTES);
  });
});

/**
 * Returns a descriptor set of about this many bytes, in base64. The set defines many small fields, so its JSON is five
 * times as long.
 */
function manyFields(bytes: number): string {
  const field = Array.from({ length: 130 }, (_, i) => ({
    name: `f${i}`,
    number: i + 1,
    label: FieldDescriptorProto_Label.OPTIONAL,
    type: FieldDescriptorProto_Type.INT32,
  }));
  const messageType = Array.from({ length: Math.floor(bytes / 1722) }, (_, i) => ({ name: `M${i}`, field }));
  const file = { name: 'ads.proto', package: 'ads', syntax: 'proto3', messageType };
  const set = create(FileDescriptorSetSchema, { file: [file] });
  return Buffer.from(toBinary(FileDescriptorSetSchema, set)).toString('base64');
}

const reasonOf = ({ json }: Reply) => [json.error.status, json.error.details[0].reason];

describe('a batch of measurements', () => {
  let names: string[];
  let others: string;
  const batchGet = (names: string[], consumer = acme) =>
    exchange.call(consumer.token, 'POST', `/v2alpha/${consumer.name}/measurements:batchGet`, { names });

  beforeAll(async () => {
    names = [];
    for (let i = 0; i < 50; i++) names.push((await createMeasurement(acme)).name);
    others = (await createMeasurement(globex)).name;
  });

  it('is returned in the order of the names, with duplicates', async () => {
    const wanted = [names[7]!, names[1]!, names[7]!, ...names.slice(20, 40).reverse()];
    const { status, json } = await batchGet(wanted);
    expect(status).toBe(200);
    expect(json.measurements.map((m: { name: string }) => m.name)).toEqual(wanted);
    for (const [i, name] of wanted.entries()) {
      expect(json.measurements[i]).toEqual((await get(acme, name)).json);
    }
  });

  it('has 1 to 50 names', async () => {
    expect((await batchGet(names)).json.measurements.length).toBe(50);
    const reply = await batchGet([...names, names[0]!]);
    expect(reply.status).toBe(400);
    expect(reply.json.error.details[1].fieldViolations[0].field).toBe('names');
    expect((await batchGet([])).status).toBe(400);
  });

  it('is rejected with NOT_FOUND and the name of a missing measurement', async () => {
    const missing = `${acme.name}/measurements/missing`;
    const reply = await batchGet([names[0]!, missing, names[1]!]);
    expect(reply.status).toBe(404);
    expect(reasonOf(reply)).toEqual(['NOT_FOUND', 'MEASUREMENT_NOT_FOUND']);
    expect(reply.json.error.details[0].metadata).toEqual({ measurement: missing });
  });

  it('is rejected for a name under another parent, with the same error whether it exists or not', async () => {
    const [existing, absent] = [others, `${globex.name}/measurements/absent`];
    const [one, two] = [await batchGet([names[0]!, existing]), await batchGet([names[0]!, absent])];
    expect(one.status).toBe(400);
    expect(one.json.error.details[1].fieldViolations[0].field).toBe('names[1]');
    expect(two.text).toBe(one.text);
  });

  it('is rejected above its byte limit, even if all names are the same, and accepted below', async () => {
    // Name the measurements several times. The exchange counts the size of a measurement each time it is named.
    const all = Array.from({ length: 20 }, (_, i) => largest[i % largest.length]!);
    const below = await batchGet(all.slice(0, 18), globex);
    expect(below.status).toBe(200);
    expect(Buffer.byteLength(below.text)).toBeGreaterThan((62 / 64) * MAX_BATCH_BYTES);
    for (const wanted of [all.slice(0, 19), Array.from({ length: 19 }, () => all[0]!)]) {
      const above = await batchGet(wanted, globex);
      expect([above.status, ...reasonOf(above)]).toEqual([429, 'RESOURCE_EXHAUSTED', 'RESPONSE_TOO_LARGE']);
    }
    const missing = `${globex.name}/measurements/missing`;
    const reply = await batchGet([...all.slice(0, 19), missing], globex);
    expect(reply.status).toBe(404);
    expect(reply.json.error.details[0].metadata).toEqual({ measurement: missing });
  });
});

describe('a batch of descriptors', () => {
  const path = (parent: string, names: string[]) =>
    `${parent}/eventGroupMetadataDescriptors:batchGet?descriptorSetEncoding=BASE64&${names.map((n) => `names=${n}`).join('&')}`;
  let own: string[];
  let foreign: string;

  beforeAll(async () => {
    const add = async (provider: DevParty) =>
      (
        await post(provider, `${provider.name}/eventGroupMetadataDescriptors`, {
          descriptorSet: manyFields(2_000),
        })
      ).name as string;
    own = [await add(streamly), await add(streamly), await add(streamly)];
    foreign = await add(chirper);
  });

  it('is returned in the order of the names, with duplicates', async () => {
    const wanted = [own[2]!, own[0]!, own[2]!];
    const { json } = await get(streamly, path(streamly.name, wanted));
    expect(json.eventGroupMetadataDescriptors.map((d: { name: string }) => d.name)).toEqual(wanted);
  });

  it('can have names of several providers only under the wildcard', async () => {
    const { json } = await get(acme, path('dataProviders/-', [foreign, own[0]!]));
    expect(json.eventGroupMetadataDescriptors.map((d: { name: string }) => d.name)).toEqual([
      foreign,
      own[0],
    ]);
    const absent = `${chirper.name}/eventGroupMetadataDescriptors/absent`;
    const [one, two] = [
      await get(acme, path(streamly.name, [own[0]!, foreign])),
      await get(acme, path(streamly.name, [own[0]!, absent])),
    ];
    expect(one.status).toBe(400);
    expect(one.json.error.details[1].fieldViolations[0].field).toBe('names[1]');
    expect(two.text).toBe(one.text);
  });

  it('is rejected with the name of a missing descriptor, even if its ID exists under another provider', async () => {
    for (const id of ['missing', foreign.split('/').at(-1)]) {
      const name = `${streamly.name}/eventGroupMetadataDescriptors/${id}`;
      const reply = await get(acme, path(streamly.name, [own[0]!, name]));
      expect(reply.status).toBe(404);
      expect(reply.json.error.details[0].metadata).toEqual({ eventGroupMetadataDescriptor: name });
    }
  });

  it('has at most 50 names, and is rejected above its byte limit', async () => {
    const times = (count: number, name: string) => Array.from({ length: count }, () => name);
    expect((await get(acme, path(streamly.name, times(50, own[0]!)))).status).toBe(200);
    expect((await get(acme, path(streamly.name, times(51, own[0]!)))).status).toBe(400);

    const descriptors = `${streamly.name}/eventGroupMetadataDescriptors`;
    const { name } = await post(streamly, descriptors, {
      descriptorSet: manyFields((1000 / 65_536) * MAX_BATCH_BYTES),
    });
    expect((await get(acme, path(streamly.name, times(45, name)))).status).toBe(200);
    const above = await get(acme, path(streamly.name, times(50, name)));
    expect([above.status, ...reasonOf(above)]).toEqual([429, 'RESOURCE_EXHAUSTED', 'RESPONSE_TOO_LARGE']);
    const inJson = await get(acme, path(streamly.name, times(20, name)).replace('BASE64', 'JSON'));
    expect(inJson.status).toBe(429);
  });
});
