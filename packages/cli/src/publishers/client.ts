/** Creates clients for demo parties. These clients work for longer than a token is valid. */
import {
  type Consumer,
  createClient,
  createConsumer,
  createTrustStore,
  type ExchangeClient,
  readCredentials,
} from '@measurement-exchange/sdk';
import { type DevFile, findDevParty, readOwnDevFile } from '../files/devFile.ts';

/** The demo party that measures the publishers' campaign. */
export const ADVERTISER = 'measurementConsumers/acme';

/** Connects as a demo party. The token is reread on every call, because the exchange renews the tokens in dev.json. */
export function clientOf({ baseUrl }: DevFile, party: string): ExchangeClient {
  return createClient({ baseUrl, token: async () => findDevParty(await readOwnDevFile(), party).token });
}

export function advertiserOf(dev: DevFile): { client: ExchangeClient; consumer: Consumer } {
  const client = clientOf(dev, ADVERTISER);
  const credentials = readCredentials(findDevParty(dev, ADVERTISER));
  const trust = createTrustStore([{ pem: dev.rootCertificatePem }]);
  const duchies = dev.duchies.map(({ name }) => name);
  return { client, consumer: createConsumer({ client, credentials, trust, duchies }) };
}
