import { ApiKeys, MeasurementConsumers } from '@measurement-exchange/contract/rpc';
import { UNLIMITED, useExchange } from '@measurement-exchange/testkit/exchange';
import { clientOf, failureOf } from '@measurement-exchange/testkit/rpc';
import { castOf, ok } from '@measurement-exchange/testkit/steps';
import { expect, it } from 'vitest';

const exchange = useExchange({ rate: UNLIMITED });
const clientBy = ({ token }: { token: string }) => clientOf(exchange.dev, ApiKeys, { token });

it('an API key is returned once, authenticates as its consumer, and is rejected after it is deleted', async () => {
  const { acme, globex } = castOf(exchange);
  const keys = clientBy(acme);
  const apiKey = { nickname: 'reports', description: 'of the nightly job' };
  const made = await keys.createApiKey({ parent: acme.name, apiKey });
  expect(made).toMatchObject(apiKey);
  expect(made.name).toMatch(new RegExp(`^${acme.name}/apiKeys/[a-z0-9]+$`));

  const headers = { 'x-api-key': made.authenticationKey };
  const consumers = clientOf(exchange.dev, MeasurementConsumers, { headers });
  expect(await consumers.getMeasurementConsumer({ name: acme.name })).toMatchObject({ name: acme.name });
  expect(await failureOf(consumers.getMeasurementConsumer({ name: globex.name }))).toBe(
    'permission_denied PERMISSION_DENIED',
  );
  const path = `/v2alpha/${acme.name}/apiKeys`;
  const { apiKeys } = await ok(exchange.call(acme.token, 'GET', path));
  expect(apiKeys).toMatchObject([
    { name: made.name, displayName: 'reports', description: apiKey.description },
  ]);

  const deleted = await keys.deleteApiKey({ name: made.name });
  expect(deleted).toMatchObject({ name: made.name, ...apiKey, authenticationKey: '' });
  expect(await failureOf(consumers.getMeasurementConsumer({ name: acme.name }))).toMatch(/^unauthenticated/);
  expect(await failureOf(keys.deleteApiKey({ name: made.name }))).toBe('not_found API_KEY_NOT_FOUND');
});

it('an invalid request is rejected with the names of its protobuf fields', async () => {
  const { acme, globex } = castOf(exchange);
  const parent = acme.name;
  expect(await failureOf(clientBy(acme).createApiKey({ parent, apiKey: {} }))).toBe(
    'invalid_argument REQUIRED_FIELD_NOT_SET api_key.nickname',
  );
  expect(await failureOf(clientBy(acme).deleteApiKey({ name: parent }))).toBe(
    'invalid_argument MALFORMED_NAME name',
  );
  expect(await failureOf(clientBy(globex).createApiKey({ parent, apiKey: { nickname: 'x' } }))).toBe(
    'permission_denied PERMISSION_DENIED',
  );
});
