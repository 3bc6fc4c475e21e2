/** The context that all parts of a duchy share. */
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
  /** The noise that this duchy accepts. Only the exchange says which noise a computation has. */
  noiseMechanisms: readonly MpcNoiseMechanism[];
  /** Keeps blobs for a while after their computation ended, so that operators can examine them. */
  keepsBlobs?: boolean | undefined;
  /** Settings of other duchies. The exchange names the endpoints of duchies without settings. */
  peers?: Readonly<Record<string, PeerSettings>> | undefined;
  /** Messages are sent over https only, and to an endpoint that the exchange names only at a public address. */
  requiresPublicPeers?: boolean | undefined;
  /** Sends messages to other duchies where their address need not be checked. */
  fetch: typeof fetch;
  log: Logger;
  metrics: Metrics;
}
