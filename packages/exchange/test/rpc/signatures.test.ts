/**
 * Tests that gRPC adds the algorithm to signatures that REST stored without an algorithm. gRPC clients need the
 * algorithm to verify a signature.
 */
import { Measurements, Requisitions } from '@measurement-exchange/contract/rpc';
import { measurementRequest, useExchange } from '@measurement-exchange/testkit/exchange';
import { clientOf } from '@measurement-exchange/testkit/rpc';
import { castOf, get, ok, post } from '@measurement-exchange/testkit/steps';
import { expect, it } from 'vitest';

const exchange = useExchange();
const OID = '1.2.840.10045.4.3.2';

it('a signature without an algorithm is returned over gRPC with the algorithm of the signing certificate', async () => {
  const { acme, streamly } = castOf(exchange);
  const { measurementSpec, ...request } = measurementRequest(acme, [streamly]);
  const { signatureAlgorithm: _, ...signed } = measurementSpec;
  const body = { ...request, measurementSpec: signed };
  const { name } = await ok(post(exchange, acme, `${acme.name}/measurements`, body));
  expect(await get(exchange, acme, name)).not.toHaveProperty('measurementSpec.signatureAlgorithm');

  const named = { measurementSpec: { signatureAlgorithmOid: OID } };
  const ofAcme = clientOf(exchange.dev, Measurements, { token: acme.token });
  expect(await ofAcme.getMeasurement({ name })).toMatchObject(named);
  expect(await ofAcme.batchGetMeasurements({ parent: acme.name, names: [name] })).toMatchObject({
    measurements: [named],
  });
  expect(await ofAcme.listMeasurements({ parent: acme.name })).toMatchObject({ measurements: [named] });
  const ofStreamly = clientOf(exchange.dev, Requisitions, { token: streamly.token });
  const { requisitions } = await ofStreamly.listRequisitions({ parent: streamly.name });
  expect(requisitions).toMatchObject([named]);
  expect(await ofStreamly.getRequisition({ name: requisitions[0]!.name })).toMatchObject(named);
});
