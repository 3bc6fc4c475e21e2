/** The dependencies of a consumer. */

import type { TrustStore } from '@measurement-exchange/consent';
import type { Clock } from '../client/clock.ts';
import type { ExchangeClient } from '../client/index.ts';
import type { Credentials } from '../credentials.ts';

/** The consumer's credentials, its client, and the roots it trusts. */
export interface ConsumerOptions {
  client: ExchangeClient;
  credentials: Credentials;
  /** The roots that must have issued data providers' certificates, obtained outside the exchange. */
  trust: TrustStore;
  /** Former private keysets, to open measurements that were created with them. */
  formerEncryptionPrivateKeys?: Uint8Array[];
  clock?: Clock;
}

export type Dependencies = ConsumerOptions & { clock: Clock };

/** The present one first. */
export function privateKeysets({
  credentials,
  formerEncryptionPrivateKeys = [],
}: Dependencies): Uint8Array[] {
  return [credentials.encryptionPrivateKey, ...formerEncryptionPrivateKeys];
}
