/** Tests requests of duchies while the setting `checks` is `strict`. */

import { createRoot } from '@measurement-exchange/sdk/identity';
import { act, parametersOf, resultOf, useComputations } from '@measurement-exchange/testkit/computations';
import { asOperator } from '@measurement-exchange/testkit/operator';
import { errorOf, ok, stored } from '@measurement-exchange/testkit/steps';
import { expect, it } from 'vitest';

const world = useComputations({ checks: 'strict' });
const { exchange } = world;

it('strict checks reject a duchy certificate from an untrusted root, and a result of an unknown type', async () => {
  const { firstWorker, aggregator } = world.duchies;
  const open = await world.create();
  const computing = await world.createComputing();
  const result = resultOf(aggregator);
  const unknown = { ...result, encryptedResult: { ...result.encryptedResult, typeUrl: 'type.example/x' } };
  expect(errorOf(await act(exchange, aggregator, computing, 'setResult', unknown))).toBe(
    '400 INVALID_ARGUMENT CHECK_FAILED encryptedResult.typeUrl',
  );

  for (const party of [firstWorker.name, aggregator.name]) {
    const { certificatePem: x509Pem } = await createRoot('Another root', Date.now());
    await ok(asOperator(exchange, 'POST', 'trustedRoots', { x509Pem, party }));
  }
  const untrusted = '400 INVALID_ARGUMENT CHECK_FAILED certificate';
  const before = await stored(exchange);
  const parameters = await act(exchange, firstWorker, open, 'setParameters', parametersOf(firstWorker));
  expect(errorOf(parameters)).toBe(untrusted);
  expect(errorOf(await act(exchange, aggregator, computing, 'setResult', result))).toBe(untrusted);
  expect(await stored(exchange)).toEqual(before);
});
