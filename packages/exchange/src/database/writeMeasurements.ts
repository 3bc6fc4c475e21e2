/**
 * Writes the changed rows of measurements, requisitions, and participants, and their log entries, in one round trip.
 */
import type { Finding } from '@measurement-exchange/contract';
import type { Change, MeasurementRecord, Outline, RequisitionRecord } from '../domain/aggregate.ts';
import { changesOf } from '../domain/changes.ts';
import { sql, type Transaction } from './db.ts';
import { type TransitionRecord, transitions } from './log.ts';
import { measurements, requisitions } from './measurementTables.ts';
import { insertParticipants, updateParticipants } from './participants.ts';
import { arrayParameters, arrays, except, names, only, parameters, values } from './table.ts';
import { appendChanges, changeValues, IN_ORDER, kindsOfChanges, type RequestKey } from './versions.ts';

export interface Author {
  actor: string;
  requestId: string;
  findings: Finding[];
}

type LoggedStep = Omit<TransitionRecord, 'actor' | 'requestId' | 'findings'>;

/**
 * The columns of the transition log that store the fields of `Author`. A statement can write several transitions with
 * the same author. Only the first of these transitions stores the findings.
 */
const AUTHOR = 'actor, request_id, findings';
function authorValues({ actor, requestId, findings }: Author): unknown[] {
  return [actor, requestId, findings.length > 0 ? JSON.stringify(findings) : undefined];
}

const NEW_MEASUREMENT = except(measurements, 'failure', 'result');
/**
 * All new requisitions of a measurement have the same value in these columns, so each value is sent once. The other
 * columns are sent as arrays.
 */
const NEW_REQUISITIONS = only(requisitions, 'state', 'version', 'createTime', 'updateTime');
const NEW_REQUISITION = except(
  requisitions,
  ...(['state', 'version', 'createTime', 'updateTime', 'refusal', 'deferral', 'fulfillment'] as const),
);
const FIRST_STEPS = only(transitions, 'measurement', 'version', 'from', 'time');
const FIRST_STEP = only(transitions, 'subject', 'to', 'cause');

const INSERT = insertStatement();

/**
 * Returns the statement that inserts a measurement. Parameters: `$1..$3` author, `$4` request ID, `$5` request hash,
 * then the values or arrays of each list of columns.
 */
function insertStatement() {
  const m = 6;
  const shared = m + NEW_MEASUREMENT.length;
  const each = shared + NEW_REQUISITIONS.length;
  const steps = each + NEW_REQUISITION.length;
  const step = steps + FIRST_STEPS.length;
  const changes = step + FIRST_STEP.length;
  return sql(
    'measurement_insert',
    `WITH m AS (
       INSERT INTO measurements (${names(NEW_MEASUREMENT)}, request_id, request_hash, requisition_count)
       VALUES (${parameters(NEW_MEASUREMENT, m)}, $4, $5, cardinality($${each}::text[]))
     ), r AS (
       INSERT INTO requisitions (measurement, ordinal, ${names(NEW_REQUISITIONS)}, ${names(NEW_REQUISITION)})
       SELECT $${m}, n.ordinal - 1, ${parameters(NEW_REQUISITIONS, shared)}, ${names(NEW_REQUISITION, 'n')}
         FROM unnest(${arrayParameters(NEW_REQUISITION, each)})
              WITH ORDINALITY AS n(${names(NEW_REQUISITION)}, ordinal)
     ), change AS (
       ${appendChanges(changes)}
     )
     INSERT INTO transitions (${AUTHOR}, ${names(FIRST_STEPS)}, ${names(FIRST_STEP)})
     SELECT $1, $2, CASE WHEN s.n = 1 THEN $3::jsonb END, ${parameters(FIRST_STEPS, steps)}, ${names(FIRST_STEP, 's')}
       FROM unnest(${arrayParameters(FIRST_STEP, step)}) WITH ORDINALITY AS s(${names(FIRST_STEP)}, n)
      ORDER BY s.n`,
  );
}

export function insertMeasurement(
  tx: Transaction,
  change: Change,
  request: RequestKey | undefined,
  author: Author,
): void {
  const { measurement, requisitions } = change.after;
  const steps = loggedSteps(measurement.id, change);
  tx.last(INSERT, [
    ...authorValues(author),
    request?.id,
    request?.hash,
    ...values(NEW_MEASUREMENT, measurement),
    ...values(NEW_REQUISITIONS, requisitions[0]!),
    ...arrays(NEW_REQUISITION, requisitions),
    ...values(FIRST_STEPS, steps[0]!),
    ...arrays(FIRST_STEP, steps),
    ...changeValues(tx, changesOf(change)),
  ]);
  insertParticipants(tx, change.after);
}

/** These are the only fields of a measurement that can change. */
const CHANGED_MEASUREMENT = only(measurements, 'state', 'failure', 'result', 'version', 'updateTime');
const CHANGED_REQUISITION = only(
  requisitions,
  ...(['state', 'refusal', 'deferral', 'fulfillment', 'version', 'updateTime'] as const),
);
const STEP = except(transitions, 'actor', 'requestId', 'findings');

const UPDATE = updateStatement();

/**
 * Returns the statement that updates measurements. Parameters: `$1..$3` author, `$4, $5` IDs of measurements and
 * requisitions, `$6, $7` their expected versions, then one array per written column.
 */
function updateStatement() {
  const m = 8;
  const r = m + CHANGED_MEASUREMENT.length;
  const step = r + CHANGED_REQUISITION.length;
  const changes = step + STEP.length;
  const measurement = step + STEP.findIndex(({ name }) => name === 'measurement');
  return sql(
    'measurement_update',
    `WITH m AS (
       UPDATE measurements o SET (${names(CHANGED_MEASUREMENT)}) = (${names(CHANGED_MEASUREMENT, 'n')})
         FROM unnest($4::text[], $6::int[], ${arrayParameters(CHANGED_MEASUREMENT, m)})
              AS n(id, expected, ${names(CHANGED_MEASUREMENT)})
        WHERE o.id = n.id AND o.version = n.expected AND ${IN_ORDER} RETURNING 1
     ), r AS (
       UPDATE requisitions o SET (${names(CHANGED_REQUISITION)}) = (${names(CHANGED_REQUISITION, 'n')})
         FROM unnest($5::text[], $7::int[], ${arrayParameters(CHANGED_REQUISITION, r)})
              AS n(id, expected, ${names(CHANGED_REQUISITION)})
        WHERE o.id = n.id AND o.version = n.expected AND ${IN_ORDER} RETURNING 1
     ), log AS (
       INSERT INTO transitions (${AUTHOR}, ${names(STEP)})
       SELECT $1, $2, CASE WHEN s.n = 1 THEN $3::jsonb END, ${names(STEP, 's')}
         FROM unnest(${arrayParameters(STEP, step)}) WITH ORDINALITY AS s(${names(STEP)}, n)
        ORDER BY s.n
     ), change AS (
       ${appendChanges(changes)}
     )
     SELECT expect_rows((SELECT count(*) FROM m) + (SELECT count(*) FROM r) +
                        -- A duchy reads the whole measurement as one resource, so none of its steps may be later.
                        CASE WHEN 'COMPUTATION' = ANY (${kindsOfChanges(changes)}) THEN (
                          SELECT count(*) FROM transitions t
                           WHERE t.measurement = ANY ($${measurement}::text[]) AND t.xid > pg_current_xact_id())
                        ELSE 0 END,
                        cardinality($4::text[]) + cardinality($5::text[]))`,
  );
}

/**
 * Writes all changed measurements and requisitions with one statement, because one statement per measurement would take
 * five times as long. A second statement writes the participants. A statement fails if a row does not have the expected
 * version. Callers may load a measurement without the long fields of its stored results and fulfillments. Such fields
 * are not lost, because a row with a result or a fulfillment never changes, and only changed rows are written.
 */
export function saveMeasurements(
  tx: Transaction,
  all: { before: Outline; change: Change<Outline> }[],
  author: Author,
): void {
  const ms = all.flatMap(({ before, change }) => changed(before.measurement, change.after.measurement));
  const rs = all.flatMap(({ before, change }) =>
    change.after.requisitions.flatMap((r, i) => changed(before.requisitions[i]!, r)),
  );
  const measurements = ms.map(({ after }) => after as MeasurementRecord);
  const requisitions = rs.map(({ after }) => after as RequisitionRecord);
  const steps = all.flatMap(({ before, change }) => loggedSteps(before.measurement.id, change));
  const changes = all.flatMap(({ change }) => changesOf(change));
  tx.last(UPDATE, [
    ...authorValues(author),
    ...[measurements.map(({ id }) => id), requisitions.map(({ id }) => id)],
    ...[ms.map(({ before }) => before.version), rs.map(({ before }) => before.version)],
    ...arrays(CHANGED_MEASUREMENT, measurements),
    ...arrays(CHANGED_REQUISITION, requisitions),
    ...arrays(STEP, steps),
    ...changeValues(tx, changes),
  ]);
  updateParticipants(tx, all);
}

function changed<T extends { version: number }>(before: T, after: T): { before: T; after: T }[] {
  return after.version === before.version ? [] : [{ before, after }];
}

function loggedSteps(measurement: string, { steps }: Change<Outline>): LoggedStep[] {
  return steps.map((step) => ({ ...step, measurement }));
}
