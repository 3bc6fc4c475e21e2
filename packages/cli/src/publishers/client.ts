/** Creates clients for demo parties. These clients keep working after a token expires. */
import {
  type Consumer,
  createClient,
  createConsumer,
  createTrustStore,
  type ExchangeClient,
  readCredentials,
} from '@measurement-exchange/sdk';
import { type DevFile, devFileReader, findDevParty, ownDataDir } from '../files/devFile.ts';

/** The demo advertiser. It measures its own campaign, which the publishers show. */
export const ADVERTISER = 'measurementConsumers/acme';

export function clientOf({ baseUrl }: DevFile, party: string): ExchangeClient {
  const current = devFileReader(ownDataDir());
  return createClient({ baseUrl, token: async () => findDevParty(await current(), party).token });
}

export function advertiserOf(
  dev: DevFile,
  name = ADVERTISER,
): { client: ExchangeClient; consumer: Consumer } {
  const client = clientOf(dev, name);
  const credentials = readCredentials(findDevParty(dev, name));
  const trust = createTrustStore([{ pem: dev.rootCertificatePem }]);
  const duchies = dev.duchies.map(({ name }) => name);
  return { client, consumer: createConsumer({ client, credentials, trust, duchies }) };
}
