import { type Computation, DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '@measurement-exchange/contract';
import type { ExchangeClient } from '@measurement-exchange/sdk';
import { expect, it } from 'vitest';
import { checkRoots } from './roots.ts';
import type { Subject } from './subject.ts';

const subject = {
  name: 'duchies/alpha',
  rooted: [],
  trust: { verify: async () => {} },
} as unknown as Subject;

/** Creates a client whose exchange lists computations without end, each with a different data provider. */
function endless() {
  let requests = 0;
  async function* listComputations({ pageSize = DEFAULT_PAGE_SIZE }: { pageSize?: number }) {
    for (let i = 0; ; i++) {
      if (i % Math.min(pageSize, MAX_PAGE_SIZE) === 0) requests++;
      const dataProvider = `dataProviders/p${i}`;
      yield {
        measurementConsumer: 'measurementConsumers/acme',
        measurementConsumerCertificate: 'measurementConsumers/acme/certificates/c',
        requisitions: [{ dataProvider, dataProviderCertificate: `${dataProvider}/certificates/c` }],
        participants: { 'duchies/beta': {} },
      } as unknown as Computation;
    }
  }
  const getCertificate = async () => ({ x509Der: new Uint8Array() });
  const client = { listComputations, getCertificate } as unknown as ExchangeClient;
  return { client, requests: () => requests };
}

it('checkRoots reads at most 2,000 computations, with two requests', async () => {
  const { client, requests } = endless();
  const { findings, duchies } = await checkRoots(subject, client);
  expect(findings).toEqual([
    { check: 'roots', state: 'ok', message: "2002 parties: each one's certificate is of its root." },
  ]);
  expect(duchies).toEqual(['duchies/beta']);
  expect(requests()).toBe(2);
});
