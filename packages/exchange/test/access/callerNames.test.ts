/**
 * Tests that the names in a path or body, and page tokens, do not give a party access to the resources of other
 * parties. Also tests that a data provider's view contains no secrets of the other providers.
 */

import { DESCRIPTOR_SET } from '@measurement-exchange/testkit/callers/world';
import { checkedErrorOf, fingerprint } from '@measurement-exchange/testkit/errorModel';
import {
  type DevParty,
  fulfillment,
  measurementRequest,
  useExchange,
} from '@measurement-exchange/testkit/exchange';
import {
  addCertificate,
  castOf,
  createMeasurement,
  fulfill,
  get,
  ok,
  post,
  refuse,
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

const idOf = ({ name }: { name: string }) => name.split('/').at(-1)!;
const attempt = async (party: DevParty, method: string, name: string, body?: object) =>
  checkedErrorOf(await exchange.call(party.token, method, `/v2alpha/${name}`, body));
const descriptorOf = (provider: DevParty) =>
  ok(
    post(exchange, provider, `${provider.name}/eventGroupMetadataDescriptors`, {
      descriptorSet: DESCRIPTOR_SET,
    }),
  );

/** Expects that `act` does not change the database. */
async function changingNothing(act: () => Promise<void>): Promise<void> {
  const before = await stored(exchange);
  await act();
  expect(await stored(exchange)).toEqual(before);
}

describe('access through a wrong parent', () => {
  it('to a requisition is rejected for another data provider', async () => {
    const measurement = await createMeasurement(exchange, acme, [streamly, chirper]);
    const requisition = await requisitionOf(exchange, streamly, measurement);
    const stolen = `${chirper.name}/requisitions/${idOf(requisition)}`;
    await changingNothing(async () => {
      for (const [method, name, body] of [
        ['GET', stolen],
        ['GET', `${stolen}:timeline`],
        ['POST', `${stolen}:fulfillDirect`, fulfillment(chirper, requisition, 1n)],
        ['POST', `${stolen}:refuse`, { refusal: { justification: 'DECLINED' }, etag: requisition.etag }],
      ] as const) {
        expect(await attempt(chirper, method, name, body), name).toBe('404 REQUISITION_NOT_FOUND');
        expect(await attempt(streamly, method, name, body), name).toBe('403 PERMISSION_DENIED');
      }
    });
  });

  it('to a measurement is rejected for another measurement consumer', async () => {
    const measurement = await createMeasurement(exchange, acme, [streamly]);
    const stolen = `${globex.name}/measurements/${idOf(measurement)}`;
    await changingNothing(async () => {
      for (const [method, name] of [
        ['GET', stolen],
        ['GET', `${stolen}:timeline`],
        ['GET', `${stolen}/requisitions`],
        ['POST', `${stolen}:cancel`],
      ] as const) {
        expect(await attempt(globex, method, name), name).toBe('404 MEASUREMENT_NOT_FOUND');
        expect(await attempt(acme, method, name), name).toBe('403 PERMISSION_DENIED');
      }
      const names = [stolen];
      expect(await attempt(globex, 'POST', `${globex.name}/measurements:batchGet`, { names })).toBe(
        '404 MEASUREMENT_NOT_FOUND',
      );
    });
  });

  it('to a requisition is rejected for another measurement of the same consumer or of another one', async () => {
    const measurement = await createMeasurement(exchange, acme, [streamly]);
    const { name } = await requisitionOf(exchange, streamly, measurement);
    const seen = (m: { name: string }) => `${m.name}/requisitions/${idOf({ name })}`;
    const another = await createMeasurement(exchange, acme, [streamly]);
    const foreign = await createMeasurement(exchange, globex, [streamly]);
    expect((await get(exchange, acme, seen(measurement))).measurement).toBe(measurement.name);
    expect(await attempt(acme, 'GET', seen(another))).toBe('404 REQUISITION_NOT_FOUND');
    expect(await attempt(globex, 'GET', seen(foreign))).toBe('404 REQUISITION_NOT_FOUND');
  });

  it('to a descriptor or a certificate is rejected for another owner', async () => {
    const descriptor = `eventGroupMetadataDescriptors/${idOf(await descriptorOf(streamly))}`;
    const NO_DESCRIPTOR = '404 EVENT_GROUP_METADATA_DESCRIPTOR_NOT_FOUND';
    await changingNothing(async () => {
      const stolen = `${chirper.name}/${descriptor}`;
      expect(await attempt(acme, 'GET', stolen)).toBe(NO_DESCRIPTOR);
      expect(await attempt(chirper, 'PATCH', stolen, { descriptorSet: DESCRIPTOR_SET })).toBe(NO_DESCRIPTOR);
      for (const parent of [chirper.name, 'dataProviders/-']) {
        const batch = `${parent}/eventGroupMetadataDescriptors:batchGet?names=${stolen}`;
        expect(await attempt(acme, 'GET', batch)).toBe(NO_DESCRIPTOR);
      }
    });
    for (const owner of [chirper.name, acme.name]) {
      const stolen = `${owner}/certificates/${idOf({ name: streamly.certificate })}`;
      expect(await attempt(acme, 'GET', stolen)).toBe('404 CERTIFICATE_NOT_FOUND');
    }
  });
});

describe('names in a request', () => {
  it('must refer to certificates of the parties of the measurement that is created', async () => {
    const good = measurementRequest(acme, [streamly]);
    const entry = good.dataProviders[streamly.name]!;
    const withEntry = (changes: object) => ({
      ...good,
      dataProviders: { [streamly.name]: { ...entry, ...changes } },
    });
    const collection = `${acme.name}/measurements`;
    const INVALID = '400 INVALID_FIELD_VALUE';
    await changingNothing(async () => {
      for (const [wanted, body] of [
        [INVALID, { ...good, measurementConsumerCertificate: globex.certificate }],
        [INVALID, { ...good, measurementConsumerCertificate: streamly.certificate }],
        [INVALID, { ...good, measurementConsumerCertificate: 'measurementConsumers/-/certificates/-' }],
        [INVALID, withEntry({ dataProviderCertificate: chirper.certificate })],
        [INVALID, withEntry({ dataProviderCertificate: acme.certificate })],
        [INVALID, { ...good, dataProviders: { [chirper.name]: entry } }],
        [INVALID, { ...good, dataProviders: { [acme.name]: entry } }],
        [INVALID, { ...good, parent: globex.name }],
        // The exchange must reject `preferred` in a body, because it is an alias only in paths.
        [
          '400 CERTIFICATE_NOT_FOUND',
          { ...good, measurementConsumerCertificate: `${acme.name}/certificates/preferred` },
        ],
        [
          '404 DATA_PROVIDER_NOT_FOUND',
          {
            ...good,
            dataProviders: {
              'dataProviders/-': { ...entry, dataProviderCertificate: 'dataProviders/-/certificates/-' },
            },
          },
        ],
      ] as const) {
        expect(await attempt(acme, 'POST', collection, body), JSON.stringify(body)).toBe(wanted);
      }
    });
  });

  it('must refer to a certificate of the provider whose requisition is fulfilled', async () => {
    const measurement = await createMeasurement(exchange, acme, [streamly, chirper]);
    const requisition = await requisitionOf(exchange, streamly, measurement);
    const namesake = await addCertificate(exchange, chirper.name, idOf({ name: streamly.certificate }));
    await changingNothing(async () => {
      for (const [certificate, wanted] of [
        [chirper.certificate, '400 INVALID_FIELD_VALUE'],
        [namesake, '400 INVALID_FIELD_VALUE'],
        [acme.certificate, '400 INVALID_FIELD_VALUE'],
        ['dataProviders/-/certificates/-', '400 INVALID_FIELD_VALUE'],
        [`${streamly.name}/certificates/${idOf({ name: chirper.certificate })}`, '400 CERTIFICATE_NOT_FOUND'],
        [`${streamly.name}/certificates/preferred`, '400 CERTIFICATE_NOT_FOUND'],
      ] as const) {
        expect(
          checkedErrorOf(await fulfill(exchange, streamly, requisition, 1n, { certificate })),
          certificate,
        ).toBe(wanted);
      }
    });
  });

  it('must match the path if they repeat it', async () => {
    const descriptor = await descriptorOf(streamly);
    const other = await descriptorOf(streamly);
    const body = { name: other.name, descriptorSet: DESCRIPTOR_SET };
    expect(await attempt(streamly, 'PATCH', descriptor.name, body)).toBe('400 INVALID_FIELD_VALUE');
    const measurement = await createMeasurement(exchange, acme, [streamly]);
    const wrong = { name: `${globex.name}/measurements/x` };
    expect(await attempt(acme, 'POST', `${measurement.name}:cancel`, wrong)).toBe('400 INVALID_FIELD_VALUE');
  });

  it('must be under the parent of a batch, whose error does not reveal whether other resources exist', async () => {
    const theirs = await createMeasurement(exchange, globex, [streamly]);
    const own = await createMeasurement(exchange, acme, [streamly]);
    const batch = (name: string) =>
      post(exchange, acme, `${acme.name}/measurements:batchGet`, { names: [own.name, name] });
    const replies = await Promise.all([batch(theirs.name), batch(`${globex.name}/measurements/absent`)]);
    expect(replies.map(checkedErrorOf)).toEqual(['400 INVALID_FIELD_VALUE', '400 INVALID_FIELD_VALUE']);
    expect(new Set(replies.map(fingerprint)).size).toBe(1);

    const rival = await descriptorOf(chirper);
    const absent = `${chirper.name}/eventGroupMetadataDescriptors/absent`;
    const descriptors = await Promise.all(
      [rival.name, absent, 'dataProviders/-/eventGroupMetadataDescriptors/x'].map((name) =>
        exchange.call(
          streamly.token,
          'GET',
          `/v2alpha/${streamly.name}/eventGroupMetadataDescriptors:batchGet?names=${name}`,
        ),
      ),
    );
    expect(descriptors.map(checkedErrorOf)).toEqual(descriptors.map(() => '400 INVALID_FIELD_VALUE'));
    expect(new Set(descriptors.map(fingerprint)).size).toBe(1);
  });
});

describe('a page token', () => {
  it('is valid for one list only, and grants no access to other callers', async () => {
    const mine = await createMeasurement(exchange, acme, [streamly, chirper]);
    await createMeasurement(exchange, acme, [streamly, chirper]);
    for (let i = 0; i < 2; i++) await createMeasurement(exchange, globex, [streamly, chirper]);
    for (let i = 0; i < 2; i++) await descriptorOf(streamly);
    const first = async (party: DevParty, path: string) =>
      (await get(exchange, party, path)).nextPageToken as string;
    const M = `${acme.name}/measurements?pageSize=1`;
    const R = `${streamly.name}/requisitions?pageSize=1`;
    const V = `${mine.name}/requisitions?pageSize=1`;
    const D = `${streamly.name}/eventGroupMetadataDescriptors?pageSize=1`;
    const ALL = 'dataProviders/-/eventGroupMetadataDescriptors?pageSize=1';
    const tokens = {
      [M]: await first(acme, M),
      [R]: await first(streamly, R),
      [V]: await first(acme, V),
      [D]: await first(acme, D),
      [ALL]: await first(acme, ALL),
    };
    const read = (party: DevParty, list: string, token: string) =>
      exchange.call(party.token, 'GET', `/v2alpha/${list}&pageToken=${token}`);

    // Each list accepts only its own page token.
    for (const list of Object.keys(tokens)) {
      for (const [source, token] of Object.entries(tokens)) {
        const reply = await read(list === R ? streamly : acme, list, token);
        const got = reply.status === 200 ? '200' : checkedErrorOf(reply);
        expect(`${source} at ${list}: ${got}`).toBe(
          `${source} at ${list}: ${source === list ? '200' : '400 INVALID_PAGE_TOKEN'}`,
        );
      }
    }
    // A page token is rejected with another parent, another measurement or another filter.
    const invalid: [DevParty, string, string][] = [
      [globex, `${globex.name}/measurements?pageSize=1`, tokens[M]!],
      [chirper, `${chirper.name}/requisitions?pageSize=1`, tokens[R]!],
      [chirper, `${chirper.name}/eventGroupMetadataDescriptors?pageSize=1`, tokens[D]!],
      [acme, `${M}&filter.states=FAILED`, tokens[M]!],
      [acme, `${M}&filter.createdAfter=2020-01-01T00:00:00Z`, tokens[M]!],
      [streamly, `${R}&filter.states=UNFULFILLED`, tokens[R]!],
      [streamly, `${R}&filter.updatedAfter=2020-01-01T00:00:00Z`, tokens[R]!],
    ];
    for (const [party, list, token] of invalid) {
      expect(checkedErrorOf(await read(party, list, token)), list).toBe('400 INVALID_PAGE_TOKEN');
    }
    // A page token works for every caller with access to the list, and for no other caller.
    const same = await Promise.all([
      read(acme, D, tokens[D]!),
      read(globex, D, tokens[D]!),
      read(streamly, D, tokens[D]!),
    ]);
    expect(new Set(same.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    for (const [party, list] of [
      [chirper, D],
      [streamly, ALL],
      [globex, M],
      [acme, R],
    ] as const) {
      expect(checkedErrorOf(await read(party, list, tokens[list]!)), list).toBe('403 PERMISSION_DENIED');
    }
  });
});

describe("a data provider's view", () => {
  it('contains no entries, results or refusals of the other providers', async () => {
    const request = measurementRequest(acme, [streamly, chirper]);
    const { dataProviderPublicKey, encryptedRequisitionSpec, nonceHash } =
      request.dataProviders[chirper.name]!;
    const result = Buffer.from('the result of chirper').toString('base64');
    const secrets = [
      chirper.name,
      idOf({ name: chirper.certificate }),
      dataProviderPublicKey.data,
      encryptedRequisitionSpec.ciphertext,
      nonceHash,
      result,
      'chirper has its reasons',
    ];
    const seen: string[] = [];
    const look = async (requisition: { name: string }) => {
      for (const name of [
        requisition.name,
        `${requisition.name}:timeline`,
        `${streamly.name}/requisitions`,
      ]) {
        seen.push((await exchange.call(streamly.token, 'GET', `/v2alpha/${name}`)).text);
      }
    };
    const begin = async () => {
      const measurement = await ok(post(exchange, acme, `${acme.name}/measurements`, request));
      return [
        await requisitionOf(exchange, streamly, measurement),
        await requisitionOf(exchange, chirper, measurement),
      ];
    };

    const [mine, theirs] = await begin();
    await look(mine);
    const encryptedResult = { ciphertext: result, typeUrl: encryptedRequisitionSpec.typeUrl };
    await ok(fulfill(exchange, chirper, theirs, 2n, { encryptedResult }));
    await look(mine);
    seen.push((await fulfill(exchange, streamly, mine, 1n)).text);
    await look(mine);

    const [withdrawn, refused] = await begin();
    await ok(
      refuse(exchange, chirper, refused, { justification: 'DECLINED', message: 'chirper has its reasons' }),
    );
    await look(withdrawn);
    for (const etag of [withdrawn.etag, (await get(exchange, streamly, withdrawn.name)).etag]) {
      const reply = await fulfill(exchange, streamly, { ...withdrawn, etag }, 1n);
      checkedErrorOf(reply);
      seen.push(reply.text);
    }

    // The consumer's view contains every secret. This shows that the search would find a secret in another view.
    const whole = JSON.stringify([
      await get(exchange, acme, mine.measurement),
      await get(exchange, acme, withdrawn.measurement),
    ]);
    for (const secret of secrets) {
      expect(whole).toContain(secret);
      for (const text of seen) expect(text).not.toContain(secret);
    }
  });
});
