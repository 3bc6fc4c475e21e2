import { REFUSAL_JUSTIFICATIONS, TYPE_URLS } from '@measurement-exchange/contract';
import {
  type DevParty,
  fulfillment,
  measurementRequest,
  type Reply,
  useExchange,
} from '@measurement-exchange/testkit/exchange';
import {
  addCertificate,
  castOf,
  createMeasurement,
  errorOf,
  fulfill,
  get,
  metadata,
  ok,
  post,
  refuse,
  requisitionOf,
  stored,
  TIMESTAMP,
} from '@measurement-exchange/testkit/steps';
import { beforeAll, describe, expect, it } from 'vitest';

let acme: DevParty;
let streamly: DevParty;
let chirper: DevParty;
let dailynews: DevParty;

const exchange = useExchange();
beforeAll(() => {
  ({ acme, streamly, chirper, dailynews } = castOf(exchange));
});

type Requisition = Reply['json'];

/** Creates a measurement. Returns the measurement, and its requisitions as their providers see them. */
async function begin(providers: DevParty[] = [streamly, chirper]) {
  const measurement = await createMeasurement(exchange, acme, providers);
  const requisitions: Requisition[] = [];
  for (const provider of providers) requisitions.push(await requisitionOf(exchange, provider, measurement));
  return { measurement, requisitions };
}
const idOf = (requisition: { name: string }) => requisition.name.split('/').at(-1)!;
const consumerName = (requisition: Requisition) =>
  `${requisition.measurement}/requisitions/${idOf(requisition)}`;
const reread = (provider: DevParty, requisition: Requisition) => get(exchange, provider, requisition.name);

describe('a requisition', () => {
  it('has exactly the fields of the contract, and a name below the parent through which it is read', async () => {
    const request = measurementRequest(acme, [streamly, chirper]);
    const measurement = await ok(post(exchange, acme, `${acme.name}/measurements`, request));
    const requisition = await requisitionOf(exchange, streamly, measurement);
    expect(requisition).toEqual({
      name: expect.stringMatching(/^dataProviders\/streamly\/requisitions\/[a-z][a-z0-9]{12,62}$/),
      state: 'UNFULFILLED',
      measurement: measurement.name,
      measurementState: 'AWAITING_REQUISITION_FULFILLMENT',
      measurementConsumerCertificate: acme.certificate,
      measurementSpec: request.measurementSpec,
      dataProvider: streamly.name,
      ...request.dataProviders[streamly.name],
      protocolConfig: { measurementType: 'REACH', direct: {} },
      etag: expect.stringMatching(/^\S+$/),
      createTime: expect.stringMatching(TIMESTAMP),
      updateTime: requisition.createTime,
    });
    expect(await reread(streamly, requisition)).toEqual(requisition);
    const inConsumerView = { ...requisition, name: consumerName(requisition) };
    expect(await get(exchange, acme, consumerName(requisition))).toEqual(inConsumerView);
    const { requisitions } = await get(exchange, acme, `${measurement.name}/requisitions`);
    expect(requisitions).toContainEqual(inConsumerView);
    expect(requisitions).toHaveLength(2);
  });

  it('is not found under another parent, or if it does not exist', async () => {
    const one = (await begin()).requisitions[0];
    const other = (await begin([streamly])).measurement;
    for (const [party, name] of [
      [chirper, `${chirper.name}/requisitions/${idOf(one)}`],
      [acme, `${other.name}/requisitions/${idOf(one)}`],
      [streamly, `${streamly.name}/requisitions/absent`],
      [acme, `${other.name}/requisitions/absent`],
    ] as const) {
      const reply = await exchange.call(party.token, 'GET', `/v2alpha/${name}`);
      expect(errorOf(reply)).toBe('404 NOT_FOUND REQUISITION_NOT_FOUND');
      expect(metadata(reply)).toEqual({ requisition: name });
    }
    for (const reply of [
      await exchange.call(
        chirper.token,
        'GET',
        `/v2alpha/${chirper.name}/requisitions/${idOf(one)}:timeline`,
      ),
      await fulfill(exchange, chirper, { ...one, name: `${chirper.name}/requisitions/${idOf(one)}` }, 1n),
      await refuse(exchange, chirper, { ...one, name: `${chirper.name}/requisitions/${idOf(one)}` }),
    ]) {
      expect(errorOf(reply)).toBe('404 NOT_FOUND REQUISITION_NOT_FOUND');
    }
  });
});

describe('listing requisitions', () => {
  const states = (reply: Reply['json']) => reply.requisitions.map((r: Requisition) => r.state).toSorted();

  it('returns a provider its own requisitions, and a consumer those of one measurement', async () => {
    const { measurement } = await begin();
    const own = await get(exchange, streamly, `${streamly.name}/requisitions?pageSize=1000`);
    expect(new Set(own.requisitions.map((r: Requisition) => r.dataProvider))).toEqual(
      new Set([streamly.name]),
    );
    expect(own).not.toHaveProperty('nextPageToken');
    const times = own.requisitions.map((r: Requisition) => r.createTime);
    expect(times).toEqual(times.toSorted());
    expect(await get(exchange, dailynews, `${dailynews.name}/requisitions`)).toEqual({ requisitions: [] });
    const { requisitions } = await get(exchange, acme, `${measurement.name}/requisitions`);
    expect(new Set(requisitions.map((r: Requisition) => r.measurement))).toEqual(new Set([measurement.name]));
  });

  it('filters by states, by update time, and by both, in both views', async () => {
    const { measurement, requisitions } = await begin([streamly, chirper, dailynews]);
    const fulfilled = await ok(fulfill(exchange, streamly, requisitions[0], 1n));
    await ok(refuse(exchange, chirper, requisitions[1]));
    const list = async (filter: string) =>
      states(await get(exchange, acme, `${measurement.name}/requisitions?${filter}`));
    expect(await list('')).toEqual(['FULFILLED', 'REFUSED', 'WITHDRAWN']);
    expect(await list('filter.states=REFUSED')).toEqual(['REFUSED']);
    expect(await list('filter.states=REFUSED&filter.states=WITHDRAWN')).toEqual(['REFUSED', 'WITHDRAWN']);
    expect(await list('filter.states=UNFULFILLED')).toEqual([]);
    const bound = `filter.updatedAfter=${fulfilled.updateTime}`;
    expect(await list(bound)).toEqual(['REFUSED', 'WITHDRAWN']);
    expect(await list(`${bound}&filter.states=FULFILLED&filter.states=REFUSED`)).toEqual(['REFUSED']);

    const ofProvider = async (filter: string) =>
      get(exchange, streamly, `${streamly.name}/requisitions?${filter}`);
    expect(await ofProvider(bound)).toEqual({ requisitions: [] });
    const earlier = `filter.updatedAfter=${requisitions[0].updateTime}&filter.states=FULFILLED`;
    expect(await ofProvider(earlier)).toEqual({
      requisitions: [{ ...fulfilled, measurementState: 'FAILED' }],
    });
    expect(await ofProvider(`${earlier}&filter.states=UNFULFILLED`)).toEqual(await ofProvider(earlier));
  });

  it('returns every requisition once across pages, in both views', async () => {
    const { measurement } = await begin([streamly, chirper, dailynews]);
    for (const [party, parent] of [
      [acme, measurement.name],
      [streamly, streamly.name],
    ] as const) {
      const whole = await get(exchange, party, `${parent}/requisitions`);
      const names: string[] = [];
      for (let token = ''; ; ) {
        const page = await get(exchange, party, `${parent}/requisitions?pageSize=2&pageToken=${token}`);
        expect(page.requisitions.length).toBeLessThanOrEqual(2);
        names.push(...page.requisitions.map((r: Requisition) => r.name));
        if (page.nextPageToken === undefined) break;
        token = page.nextPageToken;
      }
      expect(names).toEqual(whole.requisitions.map((r: Requisition) => r.name));
    }
  });
});

describe('fulfilling a requisition', () => {
  it('returns state FULFILLED, a new etag and the unchanged fulfillmentContext', async () => {
    const { measurement, requisitions } = await begin();
    const [requisition] = requisitions;
    const fulfillmentContext = { buildLabel: 'v7 "final"', warnings: ['late data', 'ünïcode \u{1f642}'] };
    const fulfilled = await ok(
      fulfill(exchange, streamly, requisition, 1n, { fulfillmentContext, name: requisition.name }),
    );
    expect(fulfilled).toEqual({
      ...requisition,
      state: 'FULFILLED',
      nonce: 1,
      fulfillmentContext,
      etag: fulfilled.etag,
      updateTime: fulfilled.updateTime,
    });
    expect(fulfilled.etag).not.toBe(requisition.etag);
    expect(await reread(streamly, requisition)).toEqual(fulfilled);
    expect(await get(exchange, acme, consumerName(requisition))).toEqual({
      ...fulfilled,
      name: consumerName(requisition),
    });
    expect(await get(exchange, acme, measurement.name)).toMatchObject({
      state: 'AWAITING_REQUISITION_FULFILLMENT',
    });
  });

  it('returns measurementState SUCCEEDED for the last requisition of a measurement', async () => {
    const { requisitions } = await begin();
    await ok(fulfill(exchange, streamly, requisitions[0], 1n));
    expect(await ok(fulfill(exchange, chirper, requisitions[1], 2n))).toMatchObject({
      state: 'FULFILLED',
      measurementState: 'SUCCEEDED',
    });
  });

  it('accepts any usable certificate of the provider, which the results then name', async () => {
    const { measurement, requisitions } = await begin([streamly]);
    const certificate = await addCertificate(exchange, streamly.name, 'signing');
    expect(await ok(fulfill(exchange, streamly, requisitions[0], 1n, { certificate }))).toMatchObject({
      dataProviderCertificate: streamly.certificate,
    });
    expect((await get(exchange, acme, measurement.name)).results).toMatchObject([{ certificate }]);
  });
});

describe('refusing a requisition', () => {
  it.each(REFUSAL_JUSTIFICATIONS)('for %s fails the measurement with this reason', async (justification) => {
    const { measurement, requisitions } = await begin([streamly]);
    const [requisition] = requisitions;
    const message = 'not “this” quarter';
    const refused = await ok(refuse(exchange, streamly, requisition, { justification, message }));
    expect(refused).toEqual({
      ...requisition,
      state: 'REFUSED',
      measurementState: 'FAILED',
      refusal: { justification, message },
      etag: refused.etag,
      updateTime: refused.updateTime,
    });
    expect(refused.etag).not.toBe(requisition.etag);
    expect(await reread(streamly, requisition)).toEqual(refused);
    const { failure } = await get(exchange, acme, measurement.name);
    expect(failure.reason).toBe('REQUISITION_REFUSED');
    for (const part of [justification, consumerName(requisition), message]) {
      expect(failure.message).toContain(part);
    }
  });

  it('withdraws the other open requisitions with new etags, and keeps a fulfilled one unchanged', async () => {
    const { requisitions } = await begin([streamly, chirper, dailynews]);
    const [done, open, refusing] = requisitions;
    const fulfilled = await ok(fulfill(exchange, streamly, done, 1n));
    await ok(refuse(exchange, dailynews, refusing));
    expect(await reread(streamly, done)).toEqual({ ...fulfilled, measurementState: 'FAILED' });
    const withdrawn = await reread(chirper, open);
    expect(withdrawn).toEqual({
      ...open,
      state: 'WITHDRAWN',
      measurementState: 'FAILED',
      etag: withdrawn.etag,
      updateTime: withdrawn.updateTime,
    });
    expect(withdrawn.etag).not.toBe(open.etag);
    expect(withdrawn.updateTime > open.updateTime).toBe(true);
  });

  it('requires a known justification, but no message', async () => {
    const { measurement, requisitions } = await begin([streamly]);
    const wrong = (body: object) => post(exchange, streamly, `${requisitions[0].name}:refuse`, body);
    const { etag } = requisitions[0];
    expect(errorOf(await wrong({ etag, refusal: { justification: 'MAYBE' } }))).toBe(
      '400 INVALID_ARGUMENT INVALID_FIELD_VALUE refusal.justification',
    );
    expect(errorOf(await wrong({ etag, refusal: {} }))).toBe(
      '400 INVALID_ARGUMENT REQUIRED_FIELD_NOT_SET refusal.justification',
    );
    expect(errorOf(await wrong({ etag }))).toBe('400 INVALID_ARGUMENT REQUIRED_FIELD_NOT_SET refusal');
    await ok(refuse(exchange, streamly, requisitions[0], { justification: 'UNFULFILLABLE' }));
    expect((await get(exchange, acme, measurement.name)).failure.message).toMatch(/UNFULFILLABLE$/);
  });
});

describe('a request to fulfill or refuse a requisition', () => {
  const verbs = {
    fulfil: (provider: DevParty, r: Requisition, changes?: object) =>
      fulfill(exchange, provider, r, 1n, changes),
    refuse: (provider: DevParty, r: Requisition) => refuse(exchange, provider, r),
  };

  it.each(['fulfil', 'refuse'] as const)('requires an etag, and aborts if it is stale (%s)', async (verb) => {
    const { requisitions } = await begin([streamly]);
    const [requisition] = requisitions;
    const before = await stored(exchange);
    const { etag: _, ...without } = requisition;
    expect(errorOf(await verbs[verb](streamly, without))).toBe(
      '400 INVALID_ARGUMENT REQUIRED_FIELD_NOT_SET etag',
    );
    expect(errorOf(await verbs[verb](streamly, { ...requisition, etag: '' }))).toBe(
      '400 INVALID_ARGUMENT INVALID_FIELD_VALUE etag',
    );
    const stale = await verbs[verb](streamly, { ...requisition, etag: 'stale' });
    expect(errorOf(stale)).toBe('409 ABORTED REQUISITION_ETAG_MISMATCH');
    expect(metadata(stale)).toEqual({ requestEtag: 'stale', actualEtag: requisition.etag });
    expect(await stored(exchange)).toEqual(before);
  });

  it.each(['FULFILLED', 'REFUSED', 'WITHDRAWN'])(
    'is rejected for a stale etag before the state if the requisition is %s',
    async (state) => {
      const { measurement, requisitions } = await begin();
      const [requisition] = requisitions;
      if (state === 'FULFILLED') await ok(fulfill(exchange, streamly, requisition, 1n));
      if (state === 'REFUSED') await ok(refuse(exchange, streamly, requisition));
      if (state === 'WITHDRAWN') await ok(post(exchange, acme, `${measurement.name}:cancel`));
      const closed = await reread(streamly, requisition);
      expect(closed.state).toBe(state);
      for (const verb of Object.values(verbs)) {
        expect(errorOf(await verb(streamly, requisition))).toBe('409 ABORTED REQUISITION_ETAG_MISMATCH');
        // The nonce and the certificate are wrong, too, but the state must be checked first.
        expect(
          errorOf(await verb(streamly, closed, { nonce: 9, certificate: `${streamly.name}/certificates/x` })),
        ).toBe('400 FAILED_PRECONDITION REQUISITION_STATE_ILLEGAL');
      }
      expect(await reread(streamly, requisition)).toEqual(closed);
    },
  );

  it('is checked in this order: caller, body, existence, etag, nonce, certificate', async () => {
    const { requisitions } = await begin();
    const [requisition] = requisitions;
    const absent = { name: `${streamly.name}/requisitions/absent`, etag: 'stale' };
    const absentCertificate = { certificate: `${streamly.name}/certificates/absent` };
    const forbidden = post(exchange, chirper, `${requisition.name}:fulfillDirect`, '{');
    expect(errorOf(await forbidden)).toBe('403 PERMISSION_DENIED PERMISSION_DENIED');
    expect(errorOf(await fulfill(exchange, streamly, absent, 9n, { typo: 1 }))).toBe(
      '400 INVALID_ARGUMENT INVALID_FIELD_VALUE typo',
    );
    expect(errorOf(await fulfill(exchange, streamly, absent, 9n, { certificate: chirper.certificate }))).toBe(
      '400 INVALID_ARGUMENT INVALID_FIELD_VALUE certificate',
    );
    expect(errorOf(await fulfill(exchange, streamly, absent, 9n))).toBe(
      '404 NOT_FOUND REQUISITION_NOT_FOUND',
    );
    expect(
      errorOf(await fulfill(exchange, streamly, { ...requisition, etag: 'stale' }, 9n, absentCertificate)),
    ).toBe('409 ABORTED REQUISITION_ETAG_MISMATCH');
    const before = await stored(exchange);
    expect(errorOf(await fulfill(exchange, streamly, requisition, 9n, absentCertificate))).toBe(
      '400 INVALID_ARGUMENT NONCE_MISMATCH nonce',
    );
    expect(errorOf(await fulfill(exchange, streamly, requisition, 1n, absentCertificate))).toBe(
      '400 FAILED_PRECONDITION CERTIFICATE_NOT_FOUND',
    );
    expect(await stored(exchange)).toEqual(before);
    await ok(fulfill(exchange, streamly, requisition, 1n));
  });

  it.each([
    ['revoked', { revocationState: 'REVOKED' }],
    ['held', { revocationState: 'HOLD' }],
    ['expired', { notAfter: '2021-01-01' }],
    ['early', { notBefore: '2099-01-01' }],
  ])('is rejected if its certificate is %s', async (id, fields) => {
    const { requisitions } = await begin([streamly]);
    const certificate = await addCertificate(exchange, streamly.name, id, fields);
    const reply = await fulfill(exchange, streamly, requisitions[0], 1n, { certificate });
    expect(errorOf(reply)).toBe('400 FAILED_PRECONDITION CERTIFICATE_IS_INVALID');
    expect(metadata(reply)).toEqual({ field: 'certificate', certificate });
    expect(await reread(streamly, requisitions[0])).toEqual(requisitions[0]);
  });

  it('requires every field of a fulfillment except fulfillmentContext', async () => {
    const { requisitions } = await begin([streamly]);
    const reply = await post(exchange, streamly, `${requisitions[0].name}:fulfillDirect`, {});
    expect(errorOf(reply)).toBe(
      '400 INVALID_ARGUMENT REQUIRED_FIELD_NOT_SET encryptedResult nonce certificate etag',
    );
    const body = {
      ...fulfillment(streamly, requisitions[0], 1n),
      encryptedResult: { ciphertext: '', typeUrl: TYPE_URLS.MeasurementResult },
    };
    expect(errorOf(await post(exchange, streamly, `${requisitions[0].name}:fulfillDirect`, body))).toBe(
      '400 INVALID_ARGUMENT INVALID_FIELD_VALUE encryptedResult.ciphertext',
    );
  });
});
