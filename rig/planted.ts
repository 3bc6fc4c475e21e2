/** The planted bugs: which harness is expected to find each, and what must be out of the way for it to show. */
import type { PlantedBug } from '../packages/exchange/src/planted.ts';
import type { Postgres } from './world/postgres.ts';

/** The cheapest harness that finds it. */
export const FINDERS: Record<PlantedBug, string> = {
  'no-parent-lock': 'H2',
  'etag-from-time': 'H1',
  'etag-outside-transaction': 'H2',
  'request-id-not-unique': 'H2',
  'withdraw-overwrites-fulfilled': 'H1',
  'answer-before-commit': 'H2',
  'retry-after-unknown-commit': 'H8',
  'page-token-unbound': 'H1',
  'nonce-through-number': 'H1',
  'foreign-certificate': 'H1',
  'lookup-before-authorization': 'H1',
  'synchronous-commit-off': 'H6',
  'read-cache': 'H2',
  'second-requisition-on-retry': 'H1',
  'authorization-logged': 'H1',
};

interface Relaxation {
  statements: string[];
  /** Checks of the doctor that would tell of the relaxation itself, and not of what comes of it. */
  ignored: string[];
}

/** The tables carry the invariants, so some bugs show only where a guard is gone. */
const RELAXATIONS: Partial<Record<PlantedBug, Relaxation>> = {
  'request-id-not-unique': {
    statements: [
      'DROP INDEX measurements_request_id',
      'CREATE INDEX measurements_request_id ON measurements (consumer, request_id)',
    ],
    ignored: ['index-damaged'],
  },
  'withdraw-overwrites-fulfilled': {
    statements: ['DROP TRIGGER terminal_state ON requisitions'],
    ignored: ['trigger-off'],
  },
  'foreign-certificate': {
    statements: ['ALTER TABLE requisitions DROP CONSTRAINT requisitions_provider_result_certificate_fkey'],
    ignored: [],
  },
  'second-requisition-on-retry': {
    statements: ['ALTER TABLE requisitions DROP CONSTRAINT requisitions_measurement_provider_key'],
    ignored: ['index-damaged'],
  },
  'synchronous-commit-off': {
    statements: [
      'ALTER SYSTEM SET synchronous_commit = off',
      // The longest there is between two writes of the log.
      "ALTER SYSTEM SET wal_writer_delay = '10s'",
      'SELECT pg_reload_conf()',
    ],
    ignored: ['settings-unsafe'],
  },
};

/** Returns the checks of the doctor that do not count any more. */
export async function relax(postgres: Postgres, bug: PlantedBug | undefined): Promise<string[]> {
  const relaxation = bug && RELAXATIONS[bug];
  if (relaxation === undefined) return [];
  // ALTER SYSTEM runs only by itself.
  for (const statement of relaxation.statements) await postgres.query(statement);
  return relaxation.ignored;
}
