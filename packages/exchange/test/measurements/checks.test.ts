/** Tests the checks of a create request that go beyond the schema of its body, and the order of these checks. */

import { type DevParty, measurementRequest, useExchange } from '@measurement-exchange/testkit/exchange';
import {
  addCertificate,
  castOf,
  errorOf,
  metadata,
  ok,
  post,
  stored,
} from '@measurement-exchange/testkit/steps';
import { beforeAll, describe, expect, it } from 'vitest';

let acme: DevParty;
let globex: DevParty;
let streamly: DevParty;
let chirper: DevParty;
let dailynews: DevParty;

const exchange = useExchange();
beforeAll(async () => {
  ({ acme, globex, streamly, chirper, dailynews } = castOf(exchange));
  for (const party of [acme, streamly]) {
    await addCertificate(exchange, party.name, 'revoked', { revocationState: 'REVOKED' });
    await addCertificate(exchange, party.name, 'held', { revocationState: 'HOLD' });
    await addCertificate(exchange, party.name, 'expired', { notAfter: '2021-01-01' });
    await addCertificate(exchange, party.name, 'early', { notBefore: '2099-01-01' });
    await addCertificate(exchange, party.name, 'good');
  }
  await exchange.database.query(`UPDATE parties SET state = 'SUSPENDED' WHERE name = $1`, [dailynews.name]);
});

const send = (body: unknown, consumer = acme) =>
  post(exchange, consumer, `${consumer.name}/measurements`, body);

/** Returns a create request. `changes` can replace its certificates and its providers. */
function request(changes: { own?: string; provider?: string; providers?: DevParty[] } = {}) {
  const body = measurementRequest(acme, changes.providers ?? [streamly]);
  if (changes.own) body.measurementConsumerCertificate = changes.own;
  if (changes.provider) body.dataProviders[streamly.name]!.dataProviderCertificate = changes.provider;
  return body;
}
const ownField = 'measurementConsumerCertificate';
const providerField = () => `dataProviders[${streamly.name}].dataProviderCertificate`;
const nobody = (): DevParty => ({
  ...streamly,
  name: 'dataProviders/nobody',
  certificate: 'dataProviders/nobody/certificates/c',
});

describe('a certificate', () => {
  it('can be any usable certificate of the right party', async () => {
    const body = request({
      own: `${acme.name}/certificates/good`,
      provider: `${streamly.name}/certificates/good`,
    });
    expect(await ok(send(body))).toMatchObject(body);
  });

  it('is named with its full path if the measurement is wrapped', async () => {
    const reply = await send({ measurement: request({ own: globex.certificate }) });
    expect(errorOf(reply)).toBe(`400 INVALID_ARGUMENT INVALID_FIELD_VALUE measurement.${ownField}`);
  });

  it('of another party, or of another kind, or malformed, is INVALID_ARGUMENT', async () => {
    const bad = (own: string, provider: string) => send(request({ own, provider }));
    const both = `400 INVALID_ARGUMENT INVALID_FIELD_VALUE ${ownField} ${providerField()}`;
    expect(errorOf(await bad(globex.certificate, chirper.certificate))).toBe(both);
    expect(errorOf(await bad(streamly.certificate, acme.certificate))).toBe(both);
    expect(errorOf(await bad('acme', `${streamly.name}/certificates/a/b`))).toBe(both);
    // A name that only begins with the right name is rejected, too.
    expect(errorOf(await bad(`${acme.name}x/certificates/c`, `${streamly.name}x/certificates/c`))).toBe(both);
  });

  it.each(['revoked', 'held', 'expired', 'early'])(
    'that is %s is FAILED_PRECONDITION, on either side',
    async (id) => {
      const own = await send(request({ own: `${acme.name}/certificates/${id}` }));
      expect(errorOf(own)).toBe('400 FAILED_PRECONDITION CERTIFICATE_IS_INVALID');
      expect(metadata(own)).toEqual({ field: ownField, certificate: `${acme.name}/certificates/${id}` });
      const provider = await send(request({ provider: `${streamly.name}/certificates/${id}` }));
      expect(errorOf(provider)).toBe('400 FAILED_PRECONDITION CERTIFICATE_IS_INVALID');
      expect(metadata(provider)).toMatchObject({ field: providerField() });
    },
  );

  it('that does not exist is FAILED_PRECONDITION, and so is the alias `preferred`', async () => {
    for (const id of ['absent', 'preferred']) {
      const own = await send(request({ own: `${acme.name}/certificates/${id}` }));
      expect(errorOf(own)).toBe('400 FAILED_PRECONDITION CERTIFICATE_NOT_FOUND');
      expect(metadata(own)).toEqual({ field: ownField });
      const provider = await send(request({ provider: `${streamly.name}/certificates/${id}` }));
      expect(errorOf(provider)).toBe('400 FAILED_PRECONDITION CERTIFICATE_NOT_FOUND');
      expect(metadata(provider)).toEqual({ field: providerField() });
    }
  });
});

describe('a data provider', () => {
  it('that does not exist is NOT_FOUND, with its name', async () => {
    const reply = await send(request({ providers: [streamly, nobody()] }));
    expect(errorOf(reply)).toBe('404 NOT_FOUND DATA_PROVIDER_NOT_FOUND');
    expect(metadata(reply)).toEqual({ dataProvider: 'dataProviders/nobody' });
  });

  it('that is suspended is FAILED_PRECONDITION, with its name', async () => {
    const reply = await send(request({ providers: [streamly, dailynews] }));
    expect(errorOf(reply)).toBe('400 FAILED_PRECONDITION DATA_PROVIDER_SUSPENDED');
    expect(metadata(reply)).toEqual({ dataProvider: dailynews.name });
  });

  it('is required, and the wildcard is NOT_FOUND', async () => {
    const { dataProviders: _, ...rest } = request();
    expect(errorOf(await send({ ...rest, dataProviders: {} }))).toBe(
      '400 INVALID_ARGUMENT INVALID_FIELD_VALUE dataProviders',
    );
    const wildcard = { ...nobody(), name: 'dataProviders/-', certificate: 'dataProviders/-/certificates/c' };
    expect(errorOf(await send(request({ providers: [wildcard] })))).toBe(
      '404 NOT_FOUND DATA_PROVIDER_NOT_FOUND',
    );
  });
});

describe('the order of the checks', () => {
  it('is: caller, body, ownership, existence of providers, their state, then certificates', async () => {
    const revoked = `${acme.name}/certificates/revoked`;
    const good = request();
    const steps: [string, Promise<ReturnType<typeof errorOf>>][] = [
      [
        '401 UNAUTHENTICATED TOKEN_INVALID',
        exchange.call('no.such.token', 'POST', `/v2alpha/${acme.name}/measurements`, '{').then(errorOf),
      ],
      [
        '403 PERMISSION_DENIED PERMISSION_DENIED',
        exchange.call(globex.token, 'POST', `/v2alpha/${acme.name}/measurements`, '{').then(errorOf),
      ],
      ['400 INVALID_ARGUMENT MALFORMED_JSON', send('{').then(errorOf)],
      [
        '400 INVALID_ARGUMENT INVALID_FIELD_VALUE typo',
        send({ ...request({ own: globex.certificate }), typo: 1 }).then(errorOf),
      ],
      [
        `400 INVALID_ARGUMENT INVALID_FIELD_VALUE ${ownField}`,
        send(request({ own: globex.certificate, providers: [nobody()] })).then(errorOf),
      ],
      [
        '404 NOT_FOUND DATA_PROVIDER_NOT_FOUND',
        send(request({ own: revoked, providers: [nobody(), dailynews] })).then(errorOf),
      ],
      [
        '400 FAILED_PRECONDITION DATA_PROVIDER_SUSPENDED',
        send(request({ own: revoked, providers: [dailynews] })).then(errorOf),
      ],
      ['400 FAILED_PRECONDITION CERTIFICATE_IS_INVALID', send(request({ own: revoked })).then(errorOf)],
    ];
    for (const [expected, actual] of steps) expect(await actual).toBe(expected);
    await ok(send(good));
  });

  it('reports a missing provider before a suspended one', async () => {
    const reply = await send(request({ providers: [dailynews, nobody()] }));
    expect(errorOf(reply)).toBe('404 NOT_FOUND DATA_PROVIDER_NOT_FOUND');
  });

  it('stores nothing for a rejected request', async () => {
    const before = await stored(exchange);
    await send(request({ own: globex.certificate }));
    await send(request({ providers: [streamly, nobody()] }));
    await send(request({ providers: [streamly, dailynews] }));
    await send(request({ provider: `${streamly.name}/certificates/revoked` }));
    expect(await stored(exchange)).toEqual(before);
  });
});
