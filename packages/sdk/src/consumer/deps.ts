import type { TrustStore } from '@measurement-exchange/consent';
import type { Clock } from '../client/clock.ts';
import type { ExchangeClient } from '../client/index.ts';
import type { Credentials } from '../identity/credentials.ts';

/** The consumer's credentials, its client, and the roots it trusts. */
export interface ConsumerOptions {
  client: ExchangeClient;
  credentials: Credentials;
  /** Certificates of data providers and duchies must come from these roots. Obtain the roots outside of the exchange. */
  trust: TrustStore;
  /**
   * The duchies that may compute a figure over several data providers, such as `duchies/alpha`. Get their names from their
   * operators, not from the exchange. The list is empty by default, so only figures that a data provider computes alone
   * are accepted.
   */
  duchies?: readonly string[];
  /** Previous private keysets, for opening measurements that were created with them. */
  formerEncryptionPrivateKeys?: Uint8Array[];
  clock?: Clock;
}

/** The dependencies of one call. The signal aborts the call. */
export type Dependencies = ConsumerOptions & { clock: Clock; signal?: AbortSignal | undefined };

/** Returns all private keysets, the current one first. */
export function privateKeysets({
  credentials,
  formerEncryptionPrivateKeys = [],
}: Dependencies): Uint8Array[] {
  return [credentials.encryptionPrivateKey, ...formerEncryptionPrivateKeys];
}

/** Returns what a consumer needs to read and verify other parties' certificates. */
export function certificatesOf({ client, trust, clock, signal }: Dependencies) {
  const fetch = (name: string) => client.getCertificate({ name, signal });
  return { fetch, trust, now: new Date(clock.now()) };
}
