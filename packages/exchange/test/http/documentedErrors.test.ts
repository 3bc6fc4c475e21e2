/**
 * Produces the documented errors that no other test produces. This shows that the routes table lists only errors that
 * can occur.
 */
import { undocumentedErrors } from '@measurement-exchange/testkit/documentedErrors';
import { type DevParty, useExchange } from '@measurement-exchange/testkit/exchange';
import { leaf, root } from '@measurement-exchange/testkit/issuing';
import { asOperator } from '@measurement-exchange/testkit/operator';
import { castOf, errorOf, ok, post } from '@measurement-exchange/testkit/steps';
import { beforeAll, describe, expect, it } from 'vitest';

const exchange = useExchange({ checks: 'strict' });
let acme: DevParty;
let streamly: DevParty;
beforeAll(() => {
  ({ acme, streamly } = castOf(exchange));
});

describe('every operation that writes an event group', () => {
  it.each([
    [
      'because of a finding under strict checks',
      { measurementConsumerPublicKey: { '@type': 'x', data: 'AQID' } },
      /^400 INVALID_ARGUMENT CHECK_FAILED /,
    ],
    [
      'because its descriptor does not exist',
      {
        encryptedMetadata: {
          metadata: {
            eventGroupMetadataDescriptor: 'dataProviders/streamly/eventGroupMetadataDescriptors/absent',
            metadata: { '@type': 'type.googleapis.com/x.Y' },
          },
        },
      },
      /^400 FAILED_PRECONDITION EVENT_GROUP_METADATA_DESCRIPTOR_NOT_FOUND$/,
    ],
  ])('rejects it %s', async (_title, fields, wanted) => {
    const collection = `${streamly.name}/eventGroups`;
    const { name } = await ok(post(exchange, streamly, collection, { measurementConsumer: acme.name }));
    const eventGroup = { measurementConsumer: acme.name, ...fields };
    const named = { name, ...eventGroup };
    const rejected = [
      await post(exchange, streamly, collection, eventGroup),
      await exchange.call(streamly.token, 'PUT', `/v2alpha/${name}`, eventGroup),
      await post(exchange, streamly, `${collection}:batchCreate`, { requests: [{ eventGroup }] }),
      await post(exchange, streamly, `${collection}:batchUpdate`, { requests: [{ eventGroup: named }] }),
    ];
    for (const response of rejected) expect(errorOf(response)).toMatch(wanted);
  });
});

it('a certificate that no trusted root issued is rejected under strict checks', async () => {
  const trusted = await root('CN=A root of acme');
  await ok(asOperator(exchange, 'POST', 'trustedRoots', { x509Pem: trusted.pem, party: acme.name }));
  const { der } = await leaf(await root('CN=Nobody'));
  const body = { x509Der: Buffer.from(der).toString('base64') };
  expect(errorOf(await post(exchange, acme, `${acme.name}/certificates`, body))).toBe(
    '400 INVALID_ARGUMENT CHECK_FAILED x509Der',
  );
});

it.each([
  ['measurementConsumers/absent', 'MEASUREMENT_CONSUMER_NOT_FOUND'],
  ['dataProviders/absent', 'DATA_PROVIDER_NOT_FOUND'],
  ['duchies/absent', 'DUCHY_NOT_FOUND'],
])('adding a principal or a trusted root for %s returns NOT_FOUND', async (party, reason) => {
  const { der } = await root('CN=Somebody');
  const principal = { issuer: 'https://issuer.example', subject: 's', resource: party };
  const trusted = { x509Der: Buffer.from(der).toString('base64'), party };
  expect(errorOf(await asOperator(exchange, 'POST', 'principals', principal))).toBe(
    `404 NOT_FOUND ${reason}`,
  );
  expect(errorOf(await asOperator(exchange, 'POST', 'trustedRoots', trusted))).toBe(
    `404 NOT_FOUND ${reason}`,
  );
});

it('undocumentedErrors finds an error in the log that its route does not list', () => {
  const line = { method: 'GET', operation: 'whoAmI', name: 'whoami', status: 404, code: 'NOT_FOUND' };
  const unknown = { ...line, reason: 'DUCHY_NOT_FOUND' };
  const known = { ...line, status: 401, code: 'UNAUTHENTICATED', reason: 'TOKEN_INVALID' };
  expect(undocumentedErrors([unknown, known].map((one) => JSON.stringify(one)))).toEqual([
    'whoAmI: 404 NOT_FOUND DUCHY_NOT_FOUND is not documented',
  ]);
});
