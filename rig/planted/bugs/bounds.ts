/**
 * Planted bugs in the bounds of intervals (times, filters, samples), in timeouts, in lists (their order, and page
 * tokens of other lists), and in a few other checks.
 */
import type { PlantedBug } from '../plant.ts';
import { inExchange, inProvider, inServer, test } from './edits.ts';

const listsTest = (name: string) => test('exchange/test/http/lists.test.ts', name);
const timeoutsTest = (name: string) => test('exchange/test/database/timeouts.test.ts', name);
const SAMPLING_TEST = test('sdk/src/provider/events/duckdb/sampling.test.ts');

export const BOUND_BUGS: PlantedBug[] = [
  {
    name: 'nonce-hash-little-endian',
    edits: [
      inExchange(
        'operations/requisitions/fulfillDirect.ts',
        'nonceHashes: hashes,',
        `nonceHashes: [...hashes, new Uint8Array(await crypto.subtle.digest('SHA-256',
           new BigUint64Array([body.nonce])))],`,
      ),
    ],
    foundBy: test('exchange/test/requisitions/nonces.test.ts', 'does not match the nonce at create'),
  },
  {
    name: 'no-lock-timeout',
    edits: [inExchange('database/db.ts', "'lock_timeout=2000',", '')],
    foundBy: timeoutsTest('of a session is'),
  },
  {
    name: 'no-statement-timeout',
    edits: [inExchange('database/db.ts', "'statement_timeout=5000',", '')],
    foundBy: timeoutsTest('of a session is'),
  },
  {
    name: 'transaction-without-deadline',
    edits: [inServer('database/database.ts', '}, this.deadlineMs);', '}, 10 * this.deadlineMs);')],
    foundBy: timeoutsTest('a transaction'),
  },
  {
    // With this bug, a request that never ends prevents the process from stopping.
    name: 'drain-without-end',
    edits: [{ file: 'server/src/listen.ts', find: 'app.server.closeAllConnections()', replace: 'undefined' }],
    foundBy: test('exchange/test/http/stopping.test.ts'),
  },
  {
    name: 'page-token-of-any-party',
    edits: [
      inExchange(
        'operations/certificates/list.ts',
        "['listCertificates', party,",
        "['listCertificates', '',",
      ),
    ],
    foundBy: listsTest('accepts its own page tokens'),
  },
  {
    name: 'page-token-of-any-measurement',
    edits: [inExchange('operations/requisitions/list.ts', 'params.measurement}`];', 'consumer}`];')],
    foundBy: listsTest('accepts its own page tokens'),
  },
  {
    name: 'list-without-tie-break',
    edits: [
      inExchange(
        'database/certificates.ts',
        'ORDER BY c.create_time, c.id LIMIT',
        'ORDER BY c.create_time LIMIT',
      ),
    ],
    foundBy: listsTest('orders items with the same time'),
  },
  {
    name: 'filter-includes-its-bound',
    edits: [
      inExchange(
        'database/measurements.ts',
        'm.create_time > $3::timestamptz',
        'm.create_time >= $3::timestamptz',
      ),
    ],
    foundBy: listsTest('returns the items that match its filters'),
  },
  {
    name: 'certificate-ends-a-moment-early',
    edits: [
      inExchange('database/certificates.ts', 'AND not_after >= $2 ORDER BY', 'AND not_after > $2 ORDER BY'),
    ],
    foundBy: test('exchange/test/certificates/validity.test.ts'),
  },
  {
    name: 'retention-takes-pending',
    edits: [
      inExchange(
        'database/retention.ts',
        "expired('terminal', TERMINAL_MEASUREMENT_STATES,",
        "expired('terminal', [...TERMINAL_MEASUREMENT_STATES, ...PENDING_MEASUREMENT_STATES],",
      ),
    ],
    foundBy: test('exchange/test/retention/states.test.ts'),
  },
  {
    name: 'sample-includes-its-end',
    edits: [
      {
        file: 'mpc/src/privacy/vidSampling.ts',
        find: '(bucket >= from && bucket < to)',
        replace: '(bucket >= from && bucket <= to)',
      },
    ],
    foundBy: SAMPLING_TEST,
  },
  {
    name: 'sample-includes-its-end-in-sql',
    edits: [inProvider('events/duckdb/sampling.ts', 'AND bucket < $', 'AND bucket <= $')],
    foundBy: SAMPLING_TEST,
  },
  {
    name: 'result-of-a-stranger-ignored',
    edits: [
      {
        file: 'sdk/src/consumer/open.ts',
        find: 'if (!signers.includes(signer)) {',
        replace: 'if (!signers.includes(signer)) continue; if (false) {',
      },
    ],
    foundBy: test('sdk/test/consumer/results.test.ts', 'a data provider that is not part of the measurement'),
  },
];
