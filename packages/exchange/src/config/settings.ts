/**
 * Every setting with its schema, default, environment variable, and meaning. Three things derive from this list: the
 * type `Config`, the code that reads the configuration file, and the table in docs/production.md.
 */
import {
  array,
  boolean,
  enumOf,
  nameOf,
  number,
  object,
  partial,
  recordOf,
  type Static,
  type TSchema,
} from '@measurement-exchange/contract/schema';
import { IssuerConfig } from '../auth/claims.ts';
import { Deadlines } from '../domain/deadlines.ts';
import type { Protocols } from '../domain/protocolOptions.ts';
import { RPC_SETTINGS } from '../rpc/settings.ts';
import { Rate } from '../serving/rateLimiter.ts';
import { WebhookSetting } from '../webhooks/destinations.ts';
import { protocolSettings } from './protocols.ts';
import { Host, optionalSetting, Port, type Setting, setting, string, TlsFiles } from './setting.ts';

const above0 = () => number({ exclusiveMinimum: 0 });

export const SETTINGS = {
  host: setting(Host, '127.0.0.1', 'the address to listen on', 'HOST'),
  port: setting(Port, 8080, 'the port to listen on', 'PORT'),
  tls: optionalSetting(
    TlsFiles,
    '`{"certFile", "keyFile"}`, PEM: serve https, TLS 1.2 or later; read at start',
  ),
  ...RPC_SETTINGS,
  behindTlsProxy: setting(boolean(), false, 'a proxy in front ends TLS'),
  trustedProxies: optionalSetting(
    array(string()),
    'the addresses of proxies, as CIDRs: their `X-Forwarded-For` is trusted. `[]`: there is no proxy. On loopback it must be set',
  ),
  databaseUrl: optionalSetting(
    string(),
    "the app role's; without it the embedded PostgreSQL in `dataDir`",
    'DATABASE_URL',
  ),
  databaseOwnerUrl: optionalSetting(
    string(),
    'for `mex migrate` and `mex doctor`, by default `databaseUrl`; serving does not need it',
    'DATABASE_OWNER_URL',
  ),
  databaseAppRole: optionalSetting(
    string(),
    'the role that `mex migrate` grants the rights that serving needs',
  ),
  dataDir: setting(string(), '.mex', 'the folder of the embedded PostgreSQL', 'MEX_DATA_DIR'),
  issuers: setting(array(IssuerConfig), [], 'whose tokens are accepted, see below'),
  allowedPrivateHosts: setting(
    array(string()),
    [],
    'hosts of a `jwksUri`, and of the endpoints of duchies, that may be private',
  ),
  pageTokenKey: optionalSetting(string(), 'base64 of 32 bytes or more, the same on every replica'),
  secretsKey: optionalSetting(
    string(),
    'base64 of 32 bytes, the same on every replica: seals the secrets of [webhooks](api-changes.md#webhooks) in the database',
  ),
  checks: setting(
    enumOf(['advisory', 'strict']),
    'advisory',
    '`strict` rejects what `advisory` only reports: [findings](api.md#findings-and-the-setting-checks)',
    'MEX_CHECKS',
  ),
  protocols: setting<TSchema, Protocols>(
    protocolSettings,
    {},
    'multi-party protocols, see [below](#protocols)',
  ),
  duchyOperators: setting(
    recordOf(array(nameOf('dataProvider'))),
    {},
    'the data providers that each duchy belongs to, `{"duchies/alpha": ["dataProviders/streamly"]}`: no measurement of a data provider gets an aggregator that belongs to it, see [below](#protocols)',
  ),
  maxOpenMeasurements: setting(
    above0(),
    10_000,
    'measurements of one consumer that are not complete; a create beyond it is `TOO_MANY_OPEN_MEASUREMENTS`',
  ),
  demoDuchies: setting(
    boolean(),
    true,
    'development mode only: three demo duchies (`duchies/alpha`, `beta`, `gamma`) that compute with the demo parties, unless `protocols` names only others; `MEX_DUCHIES=off` leaves them out',
    'MEX_DUCHIES',
  ),
  demoAgents: setting(
    boolean(),
    true,
    'development mode only: three demo publishers (`dataProviders/northlight`, `pinwheel`, `harbor`) with events, whose agents answer measurements; `MEX_AGENTS=off` leaves them out',
    'MEX_AGENTS',
  ),
  bodyLimitBytes: setting(
    number(),
    4 * 1024 * 1024,
    "a request's body, 16 MiB at most; whatever its size, it has at most 50,000 keys and values",
  ),
  rate: setting(
    Rate,
    { perSecond: 500, burst: 1000 },
    'requests of one principal, per replica; below it, principals share what a replica can serve (see [operating.md](operating.md#how-requests-share-a-replica))',
  ),
  rates: setting(recordOf(Rate), {}, 'the same by principal, `{"dataProviders/streamly": {…}}`'),
  corsOrigins: setting(array(string()), [], 'browser origins that may call'),
  console: optionalSetting(
    boolean(),
    'serve the [web console](console.md) at `/`: people sign in at `issuers`, whose `audience` is the client ID, and see what needs no key. By default on in development mode only',
    'MEX_CONSOLE',
  ),
  computations: setting<TSchema, Deadlines>(
    object(partial(Deadlines.properties)),
    {
      ...{ parametersWithinHours: 1, fulfillWithinHours: 14 * 24 },
      ...{ confirmWithinHours: 1, computeWithinHours: 24 },
    },
    'how long a [computation](api-resources.md#computations) waits after its creation for the parameters of all duchies and for the data of all providers, after the last fulfillment for each confirmation where duchies confirm, and after that for the result; then it fails, and names the parties it waited for. An hour that is left out has its default',
  ),
  webhooks: setting<TSchema, WebhookSetting>(
    object(partial(WebhookSetting.properties)),
    { deniedNetworks: [], perSecond: 100, partyPerSecond: 50 },
    'networks, as CIDRs, to which nothing is sent, beside addresses that are not public; and how many deliveries a second go to one address, per replica: of all parties together, and of one party. Ten seconds of a rate may be saved up ([decision 36](decisions/036-burdens.md))',
  ),
  changes: setting(
    object({ keepDays: above0() }),
    { keepDays: 7 },
    'for how many days the log of changes is kept; a client that was away for longer lists everything anew',
  ),
  doctorEveryHours: setting(
    number({ minimum: 0 }),
    24,
    'how often the exchange runs the checks of `mex doctor` by itself, on one replica ([findings](api-resources.md#the-exchange)); 0: only on request',
  ),
  retention: optionalSetting(
    object(partial({ cancelPendingAfterDays: above0(), removeTerminalAfterDays: above0() })),
    '`{"cancelPendingAfterDays": 30, "removeTerminalAfterDays": 180}`: measurements pending for longer are cancelled, and those that ended longer ago are replaced by tombstones; without it, or without one of them, nothing is cancelled or removed by itself',
  ),
  logLevel: setting(
    enumOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    'info',
    'JSON lines on stdout; never tokens, bodies or keys',
    'MEX_LOG_LEVEL',
  ),
  mode: setting(enumOf(['development', 'production']), 'production', '`mex serve --dev` is `development`'),
};

export type Config = { -readonly [K in keyof typeof SETTINGS]: (typeof SETTINGS)[K]['initial'] };

/** Returns an object that maps each setting's name to one member of the setting, such as its `schema`. */
export function eachSetting<M extends keyof Setting<unknown>>(member: M) {
  const entries = Object.entries<Setting<unknown>>(SETTINGS).map(([name, one]) => [name, one[member]]);
  return Object.fromEntries(entries) as Record<keyof Config, Setting<unknown>[M]>;
}

export const DEFAULTS = eachSetting('initial') as Config;

/** Returns the settings that have this schema and a value. */
export function settingsOf<S extends TSchema>(schema: S, config: Config) {
  return Object.entries<Setting<unknown>>(SETTINGS).flatMap(([name, { schema: own, variable }]) => {
    const value = config[name as keyof Config] as Static<S> | undefined;
    return own === schema && value !== undefined ? [{ name, variable, value }] : [];
  });
}
