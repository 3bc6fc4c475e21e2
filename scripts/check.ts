/**
 * `npm run check` runs the checks of this file, in addition to the type check and Biome. The checks find forbidden
 * imports, Node code that browsers load, side effects in the domain, predictable random numbers, changed or breaking
 * migrations, and broken links. They also find mistakes in the decision pages, awkward wording, and folders without a
 * line in docs/architecture.md.
 */
import { join } from 'node:path';
import { decisionProblems } from './check/decisions.ts';
import { folderProblems } from './check/folders.ts';
import {
  browserProblems,
  circleProblems,
  importProblems,
  layers,
  type Rule,
  relativeProblems,
} from './check/imports.ts';
import { linkProblems } from './check/links.ts';
import { migrationProblems } from './check/migrations.ts';
import { fileOf, files, isIn, ownImports, ROOT, sources, textOf } from './check/sources.ts';
import { wordProblems } from './check/words.ts';

const EXCHANGE = 'packages/exchange/src';
const DUCHY = 'packages/duchy/src';
const CONTRACT = 'packages/contract/src';
const CONSENT = 'packages/consent/src';
const SDK = 'packages/sdk/src';
const CLI = 'packages/cli/src';
const CONSOLE = 'packages/console/src';
const MPC = 'packages/mpc/src';
const REPORTS = 'packages/reports/src';

/**
 * The lower layers of packages/mpc: folders, and the files that export some of them. In this package, each entry is
 * allowed to import only itself and the entries before it. The layers `protocols` and `charges` are above these
 * entries.
 */
const MPC_LAYERS = [
  ...['privacy', 'curve', 'shares', 'shares.ts'],
  ...['elGamal', 'elGamal.ts', 'sketches', 'sketches.ts'],
];

/**
 * The folders of the SDK. Each is allowed to import only itself and the folders before it. All of them run in browsers.
 */
const SDK_LAYERS = ['client', 'identity', 'onboarding', 'verification', 'refusals', 'filters', 'consumer'];
/**
 * The parts of the provider. Each is allowed to import only itself and the parts before it. The package entries, such
 * as `index.ts`, import the parts that they export.
 */
const PROVIDER_LAYERS = [
  'filter',
  'population.ts',
  'events',
  'events.ts',
  'ledger',
  'ledger.ts',
  'sealing.ts',
  'vidIndex.ts',
  'shareShuffle.ts',
  'liquidLegions.ts',
  'verify',
  'verify.ts',
  'verifySteps.ts',
  'eventQuery.ts',
  'fulfill.ts',
  'multiParty',
  'slice.ts',
  'compute.ts',
  'agent',
  'agent.ts',
];

/** The kinds of stores that can hold events. Each has its own SQL dialect. */
const EVENT_STORES = ['duckdb', 'postgres', 'clickhouse'].map((name) => `${SDK}/provider/events/${name}`);
/** A store is allowed to import SQL and transport code, but not privacy, the ledger or the protocols. */
const STORE_RULES: Rule[] = EVENT_STORES.map((place) => [
  place,
  [
    ...['source.ts', 'errors.ts', 'columns.ts', 'buckets.ts', 'statement.ts'].map(
      (file) => `${SDK}/provider/events/${file}`,
    ),
    ...[`${SDK}/provider/filter/dialect.ts`, `${SDK}/filters/types.ts`, place],
  ],
]);

const inDuchy = (...parts: string[]) => parts.map((part) => `${DUCHY}/${part}`);

/**
 * The allowed imports of each file or folder. The longest matching path decides. A name such as `contract` stands for a
 * package.
 */
const RULES: Rule[] = [
  [CONTRACT, [CONTRACT]],
  ...layers(
    CONTRACT,
    [],
    [
      'gen',
      'values',
      'errors',
      'json',
      'specs',
      'protocols',
      'codecs',
      'routes',
      'routes.ts',
      'requests',
      'openapi',
      'rpc.ts',
    ],
  ),
  [CONSENT, [CONSENT]],
  ...layers(
    CONSENT,
    ['contract'],
    ['base', 'certificates', 'signatures', 'trust', 'messages', 'keysets', 'encryption', 'sealing'],
  ),
  // The code of packages/mpc neither signs nor encrypts messages, and starts no threads. It imports no package except
  // `contract`.
  [MPC, ['contract', MPC]],
  ...layers(MPC, ['contract'], [...MPC_LAYERS, 'protocols', 'protocols.ts', 'charges', 'charges.ts']),
  ...layers(
    `${MPC}/protocols`,
    ['contract', ...MPC_LAYERS.map((part) => `${MPC}/${part}`)],
    [
      ...['stages.ts', 'messageSize.ts', 'protocol.ts', 'honestMajorityShareShuffle', 'liquidLegions'],
      ...['reachOnlyLiquidLegionsV2', 'liquidLegionsV2'],
    ],
  ),
  // Reports run at the consumer, also in browsers. They turn definitions and results into figures, without any I/O.
  [REPORTS, ['contract', 'mpc', REPORTS]],
  ...layers(
    REPORTS,
    ['contract', 'mpc'],
    ['definition', 'sets', 'needs', 'plan', 'correction', 'figures', 'exports', 'worker'],
  ),
  ['packages/server/src', ['contract', 'packages/server/src']],
  [`${EXCHANGE}/protobuf`, ['contract', `${EXCHANGE}/protobuf`]],
  [
    `${EXCHANGE}/domain`,
    ['contract', 'consent', ...['domain', 'protobuf'].map((part) => `${EXCHANGE}/${part}`)],
  ],
  [
    `${EXCHANGE}/database`,
    ['contract', 'server', ...['domain', 'protobuf', 'database'].map((part) => `${EXCHANGE}/${part}`)],
  ],
  [`${EXCHANGE}/compute`, ['contract', `${EXCHANGE}/protobuf`, `${EXCHANGE}/compute`]],
  [
    `${EXCHANGE}/operations`,
    [
      'contract',
      'consent',
      'server',
      'server/telemetry',
      // Allow this one file of `compute`. Operations import only the types of jobs from it. The pipeline runs the jobs.
      `${EXCHANGE}/compute/jobs.ts`,
      ...['domain', 'protobuf', 'database', 'feed', 'operations'].map((part) => `${EXCHANGE}/${part}`),
    ],
  ],
  [`${EXCHANGE}/feed`, ['contract', ...['database', 'feed'].map((part) => `${EXCHANGE}/${part}`)]],
  [
    `${EXCHANGE}/webhooks`,
    [
      'contract',
      'server',
      `${EXCHANGE}/serving/rateLimiter.ts`,
      ...['domain', 'database', 'feed', 'webhooks'].map((part) => `${EXCHANGE}/${part}`),
    ],
  ],
  [
    `${EXCHANGE}/auth`,
    [
      'contract',
      'consent',
      ...['domain/access.ts', 'domain/apiKey.ts', 'auth'].map((part) => `${EXCHANGE}/${part}`),
    ],
  ],
  [`${EXCHANGE}/apiReference`, ['contract', 'packages/exchange/package.json', `${EXCHANGE}/apiReference`]],
  [
    `${EXCHANGE}/serving`,
    [
      'contract',
      ...['auth', 'compute', 'observability', 'operations', 'serving'].map((part) => `${EXCHANGE}/${part}`),
    ],
  ],
  // The HTTP and gRPC servers may reach operations only through the pipeline.
  [`${EXCHANGE}/http`, ['contract', 'server', `${EXCHANGE}/serving`, `${EXCHANGE}/http`]],
  [
    `${EXCHANGE}/rpc`,
    [
      ...['contract', 'server', 'server/telemetry'],
      ...['config/setting.ts', 'config/settings.ts', 'serving', 'rpc'].map((part) => `${EXCHANGE}/${part}`),
    ],
  ],
  [
    `${EXCHANGE}/observability`,
    ['contract', 'server', ...['database', 'domain', 'observability'].map((part) => `${EXCHANGE}/${part}`)],
  ],
  [`${EXCHANGE}/postgres`, [`${EXCHANGE}/postgres`]],
  // The demo parties need keys and certificates. No other part of the exchange may import the SDK.
  [
    `${EXCHANGE}/dev`,
    [
      'contract',
      'consent',
      'sdk/identity',
      ...['apiReference/html.ts', 'auth', 'dev', 'domain', 'database'].map((part) => `${EXCHANGE}/${part}`),
    ],
  ],
  [SDK, ['contract', 'consent', 'mpc', ...['consent.ts', ...SDK_LAYERS].map((part) => `${SDK}/${part}`)]],
  ...layers(SDK, ['contract', 'consent', 'mpc', 'reports'], SDK_LAYERS),
  [`${SDK}/provider`, ['contract', 'consent', 'mpc', SDK]],
  ...layers(
    `${SDK}/provider`,
    ['contract', 'consent', 'mpc', `${SDK}/endpoints.ts`, ...SDK_LAYERS.map((part) => `${SDK}/${part}`)],
    PROVIDER_LAYERS,
  ),
  ...STORE_RULES,
  [
    `${SDK}/provider/filter/dialects.ts`,
    [`${SDK}/provider/filter`, ...EVENT_STORES.map((place) => `${place}/dialect.ts`)],
  ],
  [`${DUCHY}/config`, ['contract', 'sdk/endpoints', 'server', ...inDuchy('config')]],
  [`${DUCHY}/database`, ['contract', 'server', ...inDuchy('database')]],
  [`${DUCHY}/observability`, ['server', ...inDuchy('database', 'observability')]],
  [
    `${DUCHY}/computations`,
    [
      ...['contract', 'consent', 'mpc', 'sdk/client', 'server'],
      ...inDuchy('computations', 'config', 'database', 'observability'),
    ],
  ],
  [
    `${DUCHY}/peers`,
    [
      'contract',
      'consent',
      'mpc',
      'sdk/endpoints',
      ...inDuchy('computations', 'database', 'observability', 'peers'),
    ],
  ],
  [
    `${DUCHY}/stages`,
    [...['contract', 'consent', 'mpc'], ...inDuchy('computations', 'database', 'peers', 'stages')],
  ],
  ...['protocols', 'protocols.ts'].map(
    (place): Rule => [
      `${DUCHY}/${place}`,
      [
        ...['contract', 'consent', 'mpc'],
        ...inDuchy('computations', 'database', 'peers', 'stages', 'protocols'),
      ],
    ],
  ),
  [`${DUCHY}/herald`, ['contract', 'sdk/client', 'server', ...inDuchy('computations', 'database', 'herald')]],
  [
    `${DUCHY}/mills`,
    [
      ...['contract', 'server'],
      ...inDuchy('computations', 'database', 'mills', 'observability', 'peers', 'protocols.ts'),
    ],
  ],
  [
    `${DUCHY}/face`,
    [
      ...['contract', 'consent', 'mpc', 'sdk/client', 'server'],
      ...inDuchy('computations', 'config', 'database', 'face', 'observability', 'peers', 'protocols.ts'),
    ],
  ],
  [DUCHY, ['contract', 'consent', 'mpc', 'sdk/client', 'server', DUCHY]],
  [CLI, ['server/telemetry', 'packages/cli/package.json', CLI]],
  [`${CLI}/provider/operations.ts`, ['sdk', 'server', `${CLI}/provider`]],
  ...layers(
    CLI,
    [
      ...['contract', 'reports', 'sdk', 'duchy', 'exchange', 'console', 'server/signIn', 'server/telemetry'],
      'packages/cli/package.json',
    ],
    [
      'terminal',
      'files',
      'signIn',
      'connection',
      'calls',
      'login',
      'keys',
      'party',
      'report',
      'admin',
      'identity',
      'verify',
      'provider',
      'duchy',
      'publishers',
      'console',
      'exchange',
      'demo',
      'completion',
    ],
  ),
  // The rule allows the whole SDK, but the browser loads only a few parts of it. The companion, which is part of `mex
  // console`, uses the keys and decrypts the results.
  [CONSOLE, ['contract', 'reports', 'sdk', CONSOLE]],
  // The charts and views of a report need no page, so `mex console` can compute them.
  ...layers(CONSOLE, ['contract', 'mpc', 'reports'], ['format.ts', 'charts', 'reports']),
  ...layers(
    CONSOLE,
    ['contract', 'reports', 'sdk', ...['format.ts', 'charts', 'reports'].map((part) => `${CONSOLE}/${part}`)],
    ['companion', 'session', 'live', 'parts', 'pages', 'app'],
  ),
  [
    'packages/testkit/src',
    [
      ...['contract', 'consent', 'mpc', 'sdk', 'server', 'duchy', 'exchange', 'console', 'cli'],
      'packages/testkit/src',
    ],
  ],
  // The composition root and the other top-level files of the exchange.
  [EXCHANGE, ['contract', 'server', 'server/telemetry', 'packages/exchange/package.json', EXCHANGE]],
];

/**
 * The only files outside of `rpc/` that may mention the gRPC server. Changes to the server cannot affect other files.
 */
const KNOW_RPC = ['config/production.ts', 'config/settings.ts', 'main.ts'].map(
  (file) => `${EXCHANGE}/${file}`,
);

/** Code that consumers run in browsers, except for the places in ON_NODE. It must not load code that needs Node. */
const IN_BROWSERS = [
  CONTRACT,
  CONSENT,
  SDK,
  ...['index.ts', 'privacy', 'protocols.ts', 'charges', 'charges.ts'].map((part) => `${MPC}/${part}`),
  REPORTS,
  CONSOLE,
];
const ON_NODE = [
  ...[`${CONSENT}/sealing`, `${SDK}/endpoints.ts`, `${SDK}/provider`],
  ...['build.ts', 'buildLock.ts', 'files.ts'].map((file) => `${CONSOLE}/${file}`),
  ...['node.ts', 'thread.ts'].map((file) => `${REPORTS}/worker/${file}`),
];

const isInBrowsers = (file: string) =>
  IN_BROWSERS.some((place) => isIn(place, file)) && !ON_NODE.some((place) => isIn(place, file));

const problems = [
  ...importProblems(RULES),
  ...relativeProblems(),
  ...circleProblems(),
  ...rpcProblems(),
  ...browserProblems(isInBrowsers),
  ...purityProblems(),
  ...randomProblems(),
  ...migrationProblems(join(ROOT, EXCHANGE, 'database/migrations'), 3),
  ...migrationProblems(join(ROOT, DUCHY, 'database/migrations'), 1),
  ...linkProblems(ROOT),
  ...decisionProblems(ROOT),
  ...wordProblems(ROOT),
  ...folderProblems(
    files('packages/*/*/**/*.*', '{bench,rig,scripts}/**/*.*').filter(
      (file) => !isIn('rig/out', file) && !isIn('bench/results', file),
    ),
    textOf('docs/architecture.md'),
  ),
];
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 1 : 0);

/**
 * Other packages must not import the gRPC server. Files of the exchange outside of `rpc/` must not even mention it,
 * except for the files in KNOW_RPC, which must mention it.
 */
function rpcProblems(): string[] {
  const folder = `${EXCHANGE}/rpc`;
  const knows = (file: string) =>
    (isIn(EXCHANGE, file) && /(?<!google\.)rpc/i.test(textOf(file))) ||
    ownImports(file).some((target) => isIn(folder, fileOf(target)));
  const knowing = sources().filter((file) => !isIn(folder, file) && knows(file));
  return [
    ...knowing
      .filter((file) => !KNOW_RPC.includes(file))
      .map((file) => `${file}: may not know ${folder}, see docs/grpc.md`),
    ...KNOW_RPC.filter((file) => !knowing.includes(file)).map(
      (file) => `${file}: does not need ${folder} any more: remove it from KNOW_RPC and docs/grpc.md`,
    ),
  ];
}

/** Finds uses of the random numbers of Math, because noise, nonces and jitter must come from an unpredictable source. */
function randomProblems(): string[] {
  const forbidden = /\bMath\s*(?:\??\.\s*|\[\s*['"`])random\b|\brandom\b[^{}]*\}\s*=\s*Math\b/;
  return files('packages/*/src/**/*.{ts,js,mjs}', '{bench,rig,scripts}/**/*.{ts,mjs}')
    .filter((file) => forbidden.test(textOf(file)))
    .map((file) => `${file}: the random numbers of Math can be predicted: draw from crypto.getRandomValues`);
}

/**
 * Domain rules and protobuf code compute only from their arguments: they do not wait, read the environment or keep
 * state.
 */
function purityProblems(): string[] {
  const impure = {
    'waits for something': /\b(?:async|await|Promise)\b/,
    'reads the environment or the clock': /\bprocess\.|\bDate\.now\b|\bperformance\b/,
    'remembers something between calls':
      /^(?:export )?(?:let\b|const .* = new (?:(?:Map|Set)(?:<.*>)?\(\)|WeakMap|LRUCache))/m,
  };
  return files(`${EXCHANGE}/{domain,protobuf}/**/*.ts`)
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) => {
      const code = textOf(file).replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
      return Object.entries(impure)
        .filter(([, pattern]) => pattern.test(code))
        .map(([what]) => `${file}: ${what}, and this folder is pure`);
    });
}
