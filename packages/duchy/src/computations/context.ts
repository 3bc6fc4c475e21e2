/** What the parts of a duchy work with. */
import type { Signer, TrustStore } from '@measurement-exchange/consent';
import type { MpcNoiseMechanism } from '@measurement-exchange/contract';
import type { ExchangeClient } from '@measurement-exchange/sdk/client';
import type { Logger } from 'pino';
import type { PeerSettings } from '../config/config.ts';
import type { Database } from '../database/index.ts';
import type { Metrics } from '../observability/metrics.ts';

export interface Duchy {
  /** `duchies/…` */
  name: string;
  /** The name of the certificate whose key signs: `duchies/…/certificates/…`. */
  certificate: string;
  signer: Signer;
  client: ExchangeClient;
  db: Database;
  /** The roots of consumers, providers and the other duchies. */
  trust: TrustStore;
  /** The noise that this duchy takes part in. Only the exchange says which one a computation has. */
  noiseMechanisms: readonly MpcNoiseMechanism[];
  /** Blobs stay for a while when their computation ends, for looking into them; absent: they do not. */
  keepsBlobs?: boolean | undefined;
  /** What is set of other duchies; the endpoints of those that are not in it come from the exchange. */
  peers?: Readonly<Record<string, PeerSettings>> | undefined;
  /** Messages go to https alone, and to an endpoint of the exchange only where it is a public address. */
  requiresPublicPeers?: boolean | undefined;
  /** Sends to other duchies, unless the address has to be checked. */
  fetch: typeof fetch;
  log: Logger;
  metrics: Metrics;
}
