/** The settings and services that all parts of a duchy share. */
import type { Signer, TrustStore } from '@measurement-exchange/consent';
import type { MpcNoiseMechanism } from '@measurement-exchange/contract';
import type { ExchangeClient } from '@measurement-exchange/sdk/client';
import type { Waker } from '@measurement-exchange/server';
import type { Logger } from 'pino';
import type { PeerSettings } from '../config/config.ts';
import type { Database } from '../database/index.ts';
import type { Metrics } from '../observability/metrics.ts';

export interface Duchy {
  /** This duchy's name: `duchies/…`. */
  name: string;
  /** The name of this duchy's signing certificate: `duchies/…/certificates/…`. */
  certificate: string;
  signer: Signer;
  client: ExchangeClient;
  db: Database;
  /**
   * Wakes the mills (the loops that run stages) in this process. Call it after a commit that may have made a stage due.
   */
  mills: Waker;
  trust: TrustStore;
  /**
   * The noise mechanisms that this duchy accepts. The exchange chooses the mechanism of each computation, so the duchy
   * must check it.
   */
  noiseMechanisms: readonly MpcNoiseMechanism[];
  /**
   * If true, blobs (uploads and messages) are kept for `keepBlobsForHours` after their computation ends, so that
   * operators can examine them. If false or undefined, the blobs are removed when the computation ends.
   */
  keepsBlobs?: boolean | undefined;
  /** Settings for other duchies, by name. The exchange provides the endpoint of any duchy that is not listed. */
  peers?: Readonly<Record<string, PeerSettings>> | undefined;
  /** If true, messages are sent over https only, and an endpoint from the exchange must have a public address. */
  requiresPublicPeers?: boolean | undefined;
  /**
   * Sends messages to duchies whose addresses are allowed to be private. These are the duchies in `peers`, or all
   * duchies if `requiresPublicPeers` is not set. See send.ts.
   */
  fetch: typeof fetch;
  log: Logger;
  metrics: Metrics;
}
