/** What can be set, and what holds where it is not. */
import type { IssuerConfig } from '../auth/tokens.ts';
import type { Deadlines } from '../domain/deadlines.ts';
import type { Checks } from '../domain/findings.ts';
import type { DuchyOperators, Protocols } from '../domain/protocol.ts';
import type { Retention } from '../jobs/retention.ts';
import type { Rate } from '../serving/rateLimiter.ts';
import type { WebhookSetting } from '../webhooks/destinations.ts';

export interface Config {
  mode: 'development' | 'production';
  host: string;
  port: number;
  dataDir: string;
  /** Absent: the embedded PostgreSQL in the data directory. */
  databaseUrl: string | undefined;
  /** Who owns the schema and runs migrations; default: the user of databaseUrl. */
  databaseOwnerUrl: string | undefined;
  /** The role that serves requests, granted what it needs by the migrations. */
  databaseAppRole: string | undefined;
  issuers: IssuerConfig[];
  /** Hosts of JWKS and of the endpoints of duchies that may have a private address. */
  allowedPrivateHosts: string[];
  /** Base64, at least 32 bytes, the same on every replica. */
  pageTokenKey: string | undefined;
  /** Base64, 32 bytes, the same on every replica: seals the secrets of webhooks. */
  secretsKey: string | undefined;
  checks: Checks;
  protocols: Protocols;
  /** By duchy: the data providers that it belongs to. */
  duchyOperators: DuchyOperators;
  /** Measurements of one consumer that are not complete. */
  maxOpenMeasurements: number;
  /** In development mode: three duchies among the demo parties, and a population, where `protocols` names no others. */
  demoDuchies: boolean;
  bodyLimitBytes: number;
  rate: Rate;
  /** Per principal, where it differs. */
  rates: Record<string, Rate>;
  tls: { certFile: string; keyFile: string } | undefined;
  behindTlsProxy: boolean;
  /** Empty: there is no proxy. Absent: nobody said. */
  trustedProxies: string[] | undefined;
  corsOrigins: string[];
  /** When a computation that waits for somebody fails. */
  computations: Deadlines;
  /** Where deliveries may go, and how many. */
  webhooks: WebhookSetting;
  /** For how long the log of changes is kept. */
  changes: { keepDays: number };
  /** Absent: nothing is ever cancelled or removed by itself. */
  retention: Retention | undefined;
  logLevel: string;
}

export const DEFAULTS: Config = {
  mode: 'production',
  host: '127.0.0.1',
  port: 8080,
  dataDir: '.mex',
  databaseUrl: undefined,
  databaseOwnerUrl: undefined,
  databaseAppRole: undefined,
  issuers: [],
  allowedPrivateHosts: [],
  pageTokenKey: undefined,
  secretsKey: undefined,
  checks: 'advisory',
  protocols: {},
  duchyOperators: {},
  maxOpenMeasurements: 10_000,
  demoDuchies: true,
  bodyLimitBytes: 4 * 1024 * 1024,
  rate: { perSecond: 500, burst: 1000 },
  rates: {},
  tls: undefined,
  behindTlsProxy: false,
  trustedProxies: undefined,
  corsOrigins: [],
  computations: {
    ...{ parametersWithinHours: 1, fulfillWithinHours: 14 * 24 },
    ...{ confirmWithinHours: 1, computeWithinHours: 24 },
  },
  webhooks: { deniedNetworks: [], perSecond: 100, partyPerSecond: 50 },
  changes: { keepDays: 7 },
  retention: undefined,
  logLevel: 'info',
};
