/**
 * Tests that an absent certificate fails a computation only if the exchange reports that the certificate is absent. A
 * 404 from a proxy does not fail the computation.
 */
import { ExchangeError } from '@measurement-exchange/contract';
import { expect, test } from 'vitest';
import { trustedCertificate } from './certificates.ts';
import type { Duchy } from './context.ts';
import { PermanentError } from './errors.ts';

const PARTY = 'dataProviders/north';

function fetched(error: Error): Promise<unknown> {
  const client = { getCertificate: () => Promise.reject(error) };
  const duchy = { client } as unknown as Pick<Duchy, 'client' | 'trust'>;
  return trustedCertificate(duchy, PARTY, `${PARTY}/certificates/c1`);
}

test('trustedCertificate fails permanently for a 404 of the exchange, and the error names the party', async () => {
  const rejection = fetched(new ExchangeError('CERTIFICATE_NOT_FOUND', 'no', { code: 'NOT_FOUND' }));
  await expect(rejection).rejects.toMatchObject({
    constructor: PermanentError,
    code: 'CERTIFICATE_NOT_FOUND',
    position: { dataProvider: PARTY },
  });
});

test('trustedCertificate rethrows a 404 of a proxy unchanged, so that the duchy retries', async () => {
  const error = new ExchangeError('ROUTE_NOT_FOUND', 'no', { code: 'NOT_FOUND' });
  await expect(fetched(error)).rejects.toBe(error);
});
