import {
  type DevParty,
  exact,
  measurementRequest,
  useExchange,
} from '@measurement-exchange/testkit/exchange';
import {
  addCertificate,
  castOf,
  errorOf,
  fulfill,
  get,
  metadata,
  ok,
  post,
  requisitionOf,
  stored,
} from '@measurement-exchange/testkit/steps';
import { beforeAll, describe, expect, it } from 'vitest';

let acme: DevParty;
let globex: DevParty;
let streamly: DevParty;
let chirper: DevParty;

const exchange = useExchange();
beforeAll(() => {
  ({ acme, globex, streamly, chirper } = castOf(exchange));
});

let count = 0;
/** Returns a request ID that no other test uses. */
const fresh = () => `request ${++count} / ü`;
const inQuery = (requestId: string) => `?requestId=${encodeURIComponent(requestId)}`;

/** Returns the same value with the keys of every object in reverse order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).reverse();
  return Object.fromEntries(entries.map(([key, member]) => [key, reversed(member)]));
}

describe('a requestId on a new measurement', () => {
  const send = (body: unknown, query = '', consumer = acme) =>
    post(exchange, consumer, `${consumer.name}/measurements${query}`, body);
  const request = () => measurementRequest(acme, [streamly, chirper]);

  it('creates one measurement, whether it is in the body, in the query or in both', async () => {
    const requestId = fresh();
    const body = request();
    const first = await ok(send({ ...body, requestId }));
    for (const again of [
      send({ ...body, requestId }),
      send({ ...body, request_id: requestId }),
      send(body, inQuery(requestId)),
      send(body, inQuery(requestId).replace('requestId', 'request_id')),
      send({ ...body, requestId }, inQuery(requestId)),
      send({ measurement: body, requestId }),
      send({ measurement: body }, inQuery(requestId)),
    ]) {
      expect(await ok(again)).toEqual(first);
    }
    expect(first).not.toHaveProperty('requestId');
    expect((await ok(send(body))).name).not.toBe(first.name);
  });

  it('is rejected if query and body differ, if it is empty, and above 255 characters', async () => {
    const body = { ...request(), requestId: 'a' };
    const refused = '400 INVALID_ARGUMENT INVALID_FIELD_VALUE requestId';
    expect(errorOf(await send(body, '?requestId=b'))).toBe(refused);
    expect(errorOf(await send({ ...body, requestId: '' }))).toBe(refused);
    expect(errorOf(await send({ ...body, requestId: 'x'.repeat(256) }))).toBe(refused);
    const longest = { ...body, requestId: 'x'.repeat(255) };
    expect(await ok(send(longest))).toEqual(await ok(send(longest)));
  });

  it('accepts the same content in any equivalent JSON form', async () => {
    const body = request();
    const entry = body.dataProviders[streamly.name]!;
    const spec = { ...entry.encryptedRequisitionSpec, nonce: 1n };
    const dataProviders = {
      ...body.dataProviders,
      [streamly.name]: { ...entry, encryptedRequisitionSpec: spec },
    };
    const requestId = fresh();
    const created = await send({ ...body, dataProviders, requestId });
    const first = await ok(created);

    const respelled = {
      ...entry,
      encryptedRequisitionSpec: {
        type_url: spec.typeUrl,
        ciphertext: Buffer.from(spec.ciphertext, 'base64').toString('base64url'),
        nonce: '1',
      },
      nonceHash: Buffer.from(entry.nonceHash, 'base64').toString('hex'),
    };
    for (const again of [
      reversed({ ...body, dataProviders, requestId }),
      { ...body, dataProviders: { ...dataProviders, [streamly.name]: respelled }, requestId },
      // A client is allowed to send back the whole resource that it read, including output-only fields.
      { ...(exact(created.text) as object), requestId },
      { ...body, dataProviders, name: 'anything', state: 'FAILED', measurementReferenceId: null, requestId },
    ]) {
      expect(await ok(send(again))).toEqual(first);
    }
  });

  it('rejects different content, names the existing measurement, and changes nothing', async () => {
    const requestId = fresh();
    const body = request();
    const { name } = await ok(send({ ...body, requestId }));
    const before = await stored(exchange);
    const { [chirper.name]: _, ...fewer } = body.dataProviders;
    for (const other of [
      request(), // This second request has new random ciphertexts, so its content differs from that of `body`.
      { ...body, measurementReferenceId: 'r' },
      { ...body, dataProviders: fewer },
      { ...body, measurementSpec: { ...body.measurementSpec, signature: 'AQ==' } },
    ]) {
      const reply = await send({ ...other, requestId });
      expect(errorOf(reply)).toBe('409 ALREADY_EXISTS REQUEST_ID_REUSED');
      expect(metadata(reply)).toEqual({ requestId, existing: name });
    }
    expect(await stored(exchange)).toEqual(before);
  });

  it('belongs to its consumer: another consumer can use the same value', async () => {
    const requestId = fresh();
    const first = await ok(send({ ...request(), requestId }));
    const other = await ok(send({ ...measurementRequest(globex, [streamly]), requestId }, '', globex));
    expect(other.name).toMatch(new RegExp(`^${globex.name}/measurements/`));
    expect(other.name).not.toBe(first.name);
  });

  it('can be used again after a rejected request and after validateOnly', async () => {
    const requestId = fresh();
    const body = { ...request(), requestId };
    const certificate = await addCertificate(exchange, acme.name, 'held', { revocationState: 'HOLD' });
    expect((await send({ ...body, typo: 1 })).status).toBe(400);
    expect((await send({ ...body, measurementConsumerCertificate: certificate })).status).toBe(400);
    await ok(send({ ...request(), requestId }, '?validateOnly=true'));
    const { name } = await ok(send(body));
    expect(await ok(send(body))).toMatchObject({ name });
    expect(await ok(send(body, '?validateOnly=true'))).not.toHaveProperty('name');
  });

  it('returns the current measurement', async () => {
    const body = { ...measurementRequest(acme, [streamly]), requestId: fresh() };
    const { name } = await ok(send(body));
    await ok(fulfill(exchange, streamly, await requisitionOf(exchange, streamly, { name }), 1n));
    const again = await ok(send(body));
    expect(again).toMatchObject({ name, state: 'SUCCEEDED' });
    expect(again).toEqual(await get(exchange, acme, name));
  });

  it('returns the existing measurement even if a certificate was revoked or a provider suspended', async () => {
    const measurementConsumerCertificate = await addCertificate(exchange, acme.name, 'short-lived');
    const body = { ...request(), measurementConsumerCertificate, requestId: fresh() };
    const first = await ok(send(body));
    await ok(
      post(exchange, acme, `${measurementConsumerCertificate}:revoke`, { revocationState: 'REVOKED' }),
    );
    await exchange.database.query(`UPDATE parties SET state = 'SUSPENDED' WHERE name = $1`, [chirper.name]);
    expect(await ok(send(body))).toMatchObject({ name: first.name });
    expect((await send({ ...body, requestId: fresh() })).status).toBe(400);
    await exchange.database.query(`UPDATE parties SET state = 'ACTIVE' WHERE name = $1`, [chirper.name]);
  });

  it('creates one measurement for 12 concurrent requests', async () => {
    const body = { ...request(), requestId: fresh() };
    const all = await Promise.all(Array.from({ length: 12 }, () => ok(send(body))));
    expect(new Set(all.map((m) => m.name)).size).toBe(1);
  });
});

describe('a requestId on a new descriptor', () => {
  const file = { name: 'a.proto', package: 'a', messageType: [{ name: 'M' }] };
  const descriptorSet = { file: [file] };
  const other = { file: [{ ...file, messageType: [{ name: 'N' }] }] };
  const send = (body: unknown, query = '', provider = streamly) =>
    post(exchange, provider, `${provider.name}/eventGroupMetadataDescriptors${query}`, body);

  it('creates one descriptor, in the body or the query, flat or wrapped, as JSON or as bytes', async () => {
    const requestId = 'type.googleapis.com/a.M';
    const first = await ok(send({ descriptorSet, requestId }));
    const { descriptorSet: bytes } = await get(
      exchange,
      streamly,
      `${first.name}?descriptorSetEncoding=BASE64`,
    );
    for (const again of [
      send({ descriptorSet, requestId }),
      send({ descriptorSet }, inQuery(requestId)),
      send({ descriptorSet: reversed(descriptorSet), name: 'anything', requestId }, inQuery(requestId)),
      send({ event_group_metadata_descriptor: { descriptor_set: descriptorSet }, request_id: requestId }),
      send({ descriptorSet: bytes, requestId }),
    ]) {
      expect(await ok(again)).toEqual(first);
    }
    expect((await ok(send({ descriptorSet }))).name).not.toBe(first.name);
    expect(errorOf(await send({ descriptorSet, requestId: 'a' }, '?requestId=b'))).toBe(
      '400 INVALID_ARGUMENT INVALID_FIELD_VALUE requestId',
    );
  });

  it('rejects different content, names the existing descriptor, and changes nothing', async () => {
    const requestId = fresh();
    const { name } = await ok(send({ descriptorSet, requestId }));
    const before = await stored(exchange);
    const reply = await send({ descriptorSet: other, requestId });
    expect(errorOf(reply)).toBe('409 ALREADY_EXISTS REQUEST_ID_REUSED');
    expect(metadata(reply)).toEqual({ requestId, existing: name });
    expect(await stored(exchange)).toEqual(before);
  });

  it('belongs to its provider, and can be used again after a rejected request and after validateOnly', async () => {
    const requestId = fresh();
    expect((await send({ descriptorSet: {}, requestId })).status).toBe(400);
    await ok(send({ descriptorSet: other, requestId }, '?validateOnly=true'));
    const own = await ok(send({ descriptorSet, requestId }));
    const foreign = await ok(send({ descriptorSet: other, requestId }, '', chirper));
    expect(foreign.name).not.toBe(own.name);
    expect(foreign.descriptorSet).toEqual(other);
  });

  it('returns the current descriptor', async () => {
    const requestId = fresh();
    const { name } = await ok(send({ descriptorSet, requestId }));
    await ok(exchange.call(streamly.token, 'PUT', `/v2alpha/${name}`, { descriptorSet: other }));
    expect(await ok(send({ descriptorSet, requestId }))).toEqual({ name, descriptorSet: other });
  });

  it('creates one descriptor for 12 concurrent requests', async () => {
    const body = { descriptorSet, requestId: fresh() };
    const all = await Promise.all(Array.from({ length: 12 }, () => ok(send(body))));
    expect(new Set(all.map((d) => d.name)).size).toBe(1);
  });
});
