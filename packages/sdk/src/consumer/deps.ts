import type { TrustStore } from '@measurement-exchange/consent';
import type { Clock } from '../client/clock.ts';
import type { ExchangeClient } from '../client/index.ts';
import type { Credentials } from '../identity/credentials.ts';

/** The consumer's credentials, its client, and the roots it trusts. */
export interface ConsumerOptions {
  client: ExchangeClient;
  credentials: Credentials;
  /** The roots that must have issued the certificates of data providers and duchies, obtained outside the exchange. */
  trust: TrustStore;
  /**
   * The duchies that may compute a figure over several data providers, such as `duchies/alpha`; learn them from their
   * operators, not from the exchange. Default: none, so only figures that each data provider computes alone are accepted.
   */
  duchies?: readonly string[];
  /** Former private keysets, to open measurements that were created with them. */
  formerEncryptionPrivateKeys?: Uint8Array[];
  clock?: Clock;
}

/** The dependencies of one call; the signal aborts the call. */
export type Dependencies = ConsumerOptions & { clock: Clock; signal?: AbortSignal | undefined };

/** Returns all private keysets, the current one first. */
export function privateKeysets({
  credentials,
  formerEncryptionPrivateKeys = [],
}: Dependencies): Uint8Array[] {
  return [credentials.encryptionPrivateKey, ...formerEncryptionPrivateKeys];
}

/** Returns the means by which a consumer reads and verifies certificates of other parties. */
export function certificatesOf({ client, trust, clock, signal }: Dependencies) {
  const fetch = (name: string) => client.getCertificate({ name, signal });
  return { fetch, trust, now: new Date(clock.now()) };
}
