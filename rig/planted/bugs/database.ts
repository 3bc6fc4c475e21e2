/** Planted bugs in locks, transactions, durability and lists. */
import type { PlantedBug } from '../plant.ts';
import { CODE, inExchange, inServer, test } from './edits.ts';

export const DATABASE_BUGS: PlantedBug[] = [
  {
    name: 'no-parent-lock',
    edits: [
      inExchange('database/measurements.ts', 'AND id = $2 FOR UPDATE', 'AND id = $2'),
      inExchange('database/measurements.ts', 'AND id = $2) FOR UPDATE', 'AND id = $2)'),
    ],
    foundBy: 'H2',
  },
  {
    name: 'answer-before-commit',
    edits: [inServer('database/database.ts', 'await tx.done();', 'tx.done().catch(() => {});')],
    foundBy: 'H2',
  },
  {
    name: 'lookups-keep-their-connection',
    edits: [inServer('database/lookups.ts', 'release();', '')],
    foundBy: test('server/test/database/lookups.test.ts', 'share connections'),
  },
  {
    name: 'retry-after-unknown-commit',
    edits: [
      inServer(
        'database/errors.ts',
        "return state === '40001' || state === '40P01';",
        `if (!(error instanceof ExchangeError) && /^(undefined|08|57P)/.test(String(state))) return true;
         return state === '40001' || state === '40P01';`,
      ),
    ],
    foundBy: 'H8',
  },
  {
    name: 'synchronous-commit-off',
    edits: [],
    relax: {
      statements: [
        'ALTER SYSTEM SET synchronous_commit = off',
        // Use the longest allowed delay between two writes of the WAL, so that a crash loses more.
        "ALTER SYSTEM SET wal_writer_delay = '10s'",
        'SELECT pg_reload_conf()',
      ],
      ignoredChecks: ['settings-unsafe'],
    },
    foundBy: 'H6',
  },
  {
    name: 'request-id-not-unique',
    edits: [],
    relax: {
      statements: [
        'DROP INDEX measurements_request_id',
        'CREATE INDEX measurements_request_id ON measurements (consumer, request_id)',
      ],
      ignoredChecks: ['index-damaged'],
    },
    foundBy: 'H2',
  },
  {
    name: 'read-cache',
    edits: [
      inExchange(
        'operations/measurements/get.ts',
        'return readMeasurement(exchange.db, consumer, params.measurement);',
        `return ${CODE}.then(({ cached }) =>
           cached(params.measurement, () => readMeasurement(exchange.db, consumer, params.measurement)));`,
      ),
    ],
    foundBy: 'H2',
  },
  {
    // With this bug, a certificate can be revoked between the check and the commit.
    name: 'certificate-not-locked',
    edits: [
      inExchange('database/certificates.ts', 'id, pg_advisory_xact_lock_shared(', 'id, abs('),
      inExchange('database/certificates.ts', 'FOR SHARE OF certificates`,', '`,'),
    ],
    foundBy: test('exchange/test/certificates/revocation.test.ts', 'whose creation checked the certificate'),
  },
  {
    name: 'revocation-ignores-providers',
    edits: [
      inExchange(
        'database/revocationCascades.ts',
        'bool_or((r.provider, r.certificate) IN (SELECT * FROM revoked)',
        'bool_or(false',
      ),
    ],
    foundBy: test(
      'exchange/test/certificates/revocation.test.ts',
      'fails measurements that name it for a provider',
    ),
  },
  {
    // With this bug, the last row of a page is repeated as the first row of the next page.
    name: 'page-cursor-not-strict',
    edits: [
      inExchange(
        'database/measurements.ts',
        "? ['<', 'position DESC, id DESC'] : ['>', 'position, id']",
        "? ['<=', 'position DESC, id DESC'] : ['>=', 'position, id']",
      ),
    ],
    foundBy: 'H1',
  },
  {
    name: 'page-token-unbound',
    edits: [inExchange('operations/paging.ts', 'const text = JSON.stringify(scope);', "const text = '';")],
    foundBy: 'H1',
  },
  {
    name: 'mutation-not-audited',
    edits: [
      inExchange('operations/mutate.ts', 'const version of versions', 'const version of versions.slice(1)'),
    ],
    foundBy: test('exchange/test/access/audit.test.ts', 'lists the principal, operation and resource'),
  },
];
