/**
 * Tests a provider with several certificates. A consumer must verify the provider's key with the certificate that
 * signed the key.
 */
import {
  asking,
  fulfillWith,
  reach,
  requisitionOf,
  startWorld,
  type World,
} from '@measurement-exchange/testkit/world';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { issueLeaf, type Leaf } from '../../src/identity/index.ts';
import { createSigner } from '../../src/index.ts';

let w: World;
let longer: Leaf;
/** The name of the provider's second certificate, which expires later than the first one. */
let second: string;

beforeAll(async () => {
  w = await startWorld();
  const { name: party } = w.streamly;
  longer = await issueLeaf(w.root, 'Streamly results', Date.now(), { party, days: 20 * 365 });
  const { name } = await w.streamly.client.createCertificate({
    parent: w.streamly.name,
    body: { x509Der: longer.der },
  });
  second = name!;
});
afterAll(async () => {
  expect(await w.exchange.stop()).toEqual([]);
});

it('a consumer opens the result of a provider that signs it with a second, longer-lived certificate', async () => {
  const { client, name } = w.streamly;
  expect((await client.getParty({ name })).certificate).toBe(w.streamly.certificate);
  expect((await client.getCertificate({ name: `${name}/certificates/preferred` })).name).toBe(second);

  const created = await w.consumer.create(asking(w, 'reach', w.streamly));
  const requisition = await requisitionOf(w.streamly, created.name!);
  expect(requisition.dataProviderCertificate).toBe(w.streamly.certificate);
  const otherwise = { certificate: second, privateKeyPem: longer.privateKeyPem };
  await fulfillWith(w.streamly, created.name!, reach(120_000n), otherwise);
  const result = await w.consumer.open(await w.consumer.wait(created.name!));
  expect(result.dataProviders).toMatchObject([{ reach: { value: 120_000 } }]);
});

it('a consumer rejects a provider whose key was signed with a revoked certificate until it signs the key again', async () => {
  const { client, name, certificate } = w.streamly;
  await client.revokeCertificate({ name: certificate, body: { revocationState: 'REVOKED' } });
  await expect(w.consumer.create(asking(w, 'reach', w.streamly))).rejects.toMatchObject({
    name: 'DataProviderUntrusted',
    code: 'CERTIFICATE_REVOKED',
    message: expect.stringContaining('must sign its encryption key again'),
  });
  const { publicKey } = await client.getParty({ name });
  const signed = await (await createSigner(longer.privateKeyPem)).sign(publicKey!.message);
  const updated = await client.updateParty({ name, body: { publicKey: signed } });
  expect(updated.certificate).toBe(second);
  expect((await w.consumer.create(asking(w, 'reach', w.streamly))).state).toBeDefined();
});
