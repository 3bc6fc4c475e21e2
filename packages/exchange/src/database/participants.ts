/** Writes the rows of a computation's participants. */
import type { Aggregate, Change, Outline } from '../domain/aggregate.ts';
import { computationState } from '../domain/participants.ts';
import { sql, type Transaction } from './db.ts';
import { participants } from './measurementTables.ts';
import { arrayParameters, arrays, except, names, only } from './table.ts';

const NEW = except(participants, 'parameters');
const INSERT = sql(
  'participant_insert',
  `INSERT INTO computations (id, state, create_time, ${names(NEW)})
   SELECT $1, $2, $3, ${names(NEW, 'n')} FROM unnest(${arrayParameters(NEW, 4)}) AS n(${names(NEW)})`,
);

export function insertParticipants(tx: Transaction, created: Aggregate): void {
  if (created.participants.length === 0) return;
  const { id, createTime } = created.measurement;
  tx.last(INSERT, [id, computationState(created), createTime, ...arrays(NEW, created.participants)]);
}

const CHANGED = only(participants, 'state', 'parameters', 'version', 'updateTime');
const UPDATE = sql(
  'participant_update',
  `WITH p AS (
     UPDATE computations o SET (state, ${names(CHANGED)}) = (n.state, ${names(CHANGED, 'n')})
       FROM unnest($1::text[], $2::text[], $3::int[], $4::text[], ${arrayParameters(CHANGED, 5)})
            AS n(id, duchy, expected, state, ${names(CHANGED)})
      WHERE o.id = n.id AND o.duchy = n.duchy AND o.version = n.expected RETURNING 1
   ) SELECT expect_rows((SELECT count(*) FROM p), cardinality($1::text[]))`,
);

/**
 * Updates the rows of all participants. These rows make up the computation, which changes whenever its measurement
 * changes.
 */
export function updateParticipants(
  tx: Transaction,
  all: { before: Outline; change: Change<Outline> }[],
): void {
  const rows = all.flatMap(({ before, change: { after } }) =>
    after.participants.map((participant, i) => ({
      id: after.measurement.id,
      expected: before.participants[i]!.version,
      state: computationState(after),
      participant,
    })),
  );
  if (rows.length === 0) return;
  tx.last(UPDATE, [
    rows.map(({ id }) => id),
    rows.map(({ participant }) => participant.duchy),
    rows.map(({ expected }) => expected),
    rows.map(({ state }) => state),
    ...arrays(
      CHANGED,
      rows.map(({ participant }) => participant),
    ),
  ]);
}
