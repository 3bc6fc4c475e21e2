import type { TrustStore } from '@measurement-exchange/consent';
import type { Answer, Plan, Report } from '@measurement-exchange/reports';
import type { Clock } from '../client/clock.ts';
import type { ExchangeClient } from '../client/index.ts';
import type { Credentials } from '../identity/credentials.ts';

/** The consumer's credentials, its client, and the roots it trusts. */
export interface ConsumerOptions {
  client: ExchangeClient;
  credentials: Credentials;
  /**
   * The trusted root certificates. Certificates of data providers and duchies are accepted only if one of these roots
   * issued them. Get the roots from these parties, not from the exchange.
   */
  trust: TrustStore;
  /**
   * The duchies that are allowed to compute figures over several data providers, such as `duchies/alpha`. Get their
   * names from their operators, not from the exchange. By default, the list is empty, and only figures that a data
   * provider computes alone are accepted.
   */
  duchies?: readonly string[];
  /** Previous private keysets, for opening measurements that were created with them. */
  formerEncryptionPrivateKeys?: Uint8Array[];
  /**
   * Corrects the figures of a report so that they do not contradict each other. By default, the correction runs in the
   * calling thread without a time limit. In Node, pass `correctInThread` of `@measurement-exchange/reports/node`, which
   * uses a worker thread and has a time limit.
   */
  correctReport?: CorrectReport;
  clock?: Clock;
}

export type CorrectReport = (
  plan: Plan,
  answers: ReadonlyMap<string, Answer>,
  options: { signal?: AbortSignal },
) => Report | Promise<Report>;

export type Dependencies = ConsumerOptions & { clock: Clock; signal?: AbortSignal | undefined };

export function privateKeysets({
  credentials,
  formerEncryptionPrivateKeys = [],
}: Dependencies): Uint8Array[] {
  return [credentials.encryptionPrivateKey, ...formerEncryptionPrivateKeys];
}

export function certificatesOf({ client, trust, clock, signal }: Dependencies) {
  const fetch = (name: string) => client.getCertificate({ name, signal });
  return { fetch, trust, now: new Date(clock.now()) };
}
