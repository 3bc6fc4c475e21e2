/** What everything a consumer does rests on. */

import type { TrustStore } from '@measurement-exchange/consent';
import type { Clock } from '../client/clock.ts';
import type { ExchangeClient } from '../client/index.ts';
import type { Credentials } from '../credentials.ts';

/** Who the consumer is, how it reaches the exchange, and whose word it takes for data providers' keys. */
export interface ConsumerOptions {
  client: ExchangeClient;
  credentials: Credentials;
  /** The roots that data providers' certificates must come from, exchanged with them outside the exchange. */
  trust: TrustStore;
  /** Private keysets in use before those of `credentials`: results encrypted for them still open. */
  formerEncryptionPrivateKeys?: Uint8Array[];
  clock?: Clock;
}

export type Dependencies = ConsumerOptions & { clock: Clock };
