/** The context that all parts of a duchy share. */
import type { Signer, TrustStore } from '@measurement-exchange/consent';
import type { MpcNoiseMechanism } from '@measurement-exchange/contract';
import type { ExchangeClient } from '@measurement-exchange/sdk/client';
import type { Logger } from 'pino';
import type { PeerSettings } from '../config/config.ts';
import type { Database } from '../database/index.ts';
import type { Metrics } from '../observability/metrics.ts';

export interface Duchy {
  /** The name has the form `duchies/…`. */
  name: string;
  /** The name of this duchy's signing certificate: `duchies/…/certificates/…`. */
  certificate: string;
  signer: Signer;
  client: ExchangeClient;
  db: Database;
  /** The trusted roots of consumers, providers and other duchies. */
  trust: TrustStore;
  /** The noise that this duchy accepts. It must be checked, since only the exchange states the noise of a computation. */
  noiseMechanisms: readonly MpcNoiseMechanism[];
  /** Keeps blobs for some time after their computation ended, so that operators can examine them. */
  keepsBlobs?: boolean | undefined;
  /** Settings of other duchies. The endpoint of a duchy without settings comes from the exchange. */
  peers?: Readonly<Record<string, PeerSettings>> | undefined;
  /** Sends messages over https only. An endpoint that comes from the exchange must have a public address. */
  requiresPublicPeers?: boolean | undefined;
  /** Sends messages to other duchies whose address need not be checked. */
  fetch: typeof fetch;
  log: Logger;
  metrics: Metrics;
}
