/** Reads and lists requisitions, each with its measurement. */
import type { Timestamp } from '@measurement-exchange/contract';
import type { MeasurementWithSpec, ParticipantRecord, RequisitionWithContent } from '../domain/aggregate.ts';
import { lookup, type Queryable, sql } from './db.ts';
import { type JoinedRow, REQUISITION, readParticipants } from './measurementTables.ts';
import { type Cursor, longPageText, type Page, pageOf, pageRow } from './page.ts';

export interface RequisitionWithMeasurement {
  requisition: RequisitionWithContent;
  measurement: MeasurementWithSpec;
  participants: ParticipantRecord[];
}

function withParticipants(
  row: JoinedRow<MeasurementWithSpec, RequisitionWithContent>,
): RequisitionWithMeasurement {
  return { ...row, participants: readParticipants(row) };
}

/** The approximate size of a requisition in a response, in bytes. It includes estimates for the duchies' keys. */
const SIZE = `(3000 + CASE m.protocol WHEN 'direct' THEN 0 ELSE
  coalesce(3000 * (jsonb_array_length(m.protocol_config -> 'workers') + 1), 5000) END + (octet_length(m.spec_message) + octet_length(m.spec_signature) + octet_length(r.spec_ciphertext)
  + octet_length(r.public_key_data) + coalesce(octet_length(r.refusal_message), 0)
  + coalesce(octet_length(r.fulfillment_context::text), 0)) * 4 / 3)`;

const GET = lookup(
  'requisition_get',
  `${REQUISITION.select} FROM requisitions r JOIN measurements m ON m.id = r.measurement
    WHERE r.provider = $1 AND r.id = $2`,
  REQUISITION.reader,
);

export async function getRequisition(
  db: Queryable,
  provider: string,
  id: string,
): Promise<RequisitionWithMeasurement | undefined> {
  return (await db.query(GET, [provider, id])).map(withParticipants)[0];
}

const GET_OF_MEASUREMENT = lookup(
  'requisition_get_of_measurement',
  `${REQUISITION.select} FROM requisitions r JOIN measurements m ON m.id = r.measurement
    WHERE m.consumer = $1 AND m.id = $2 AND r.id = $3`,
  REQUISITION.reader,
);

export async function getRequisitionOfMeasurement(
  db: Queryable,
  consumer: string,
  measurement: string,
  id: string,
): Promise<RequisitionWithMeasurement | undefined> {
  return (await db.query(GET_OF_MEASUREMENT, [consumer, measurement, id])).map(withParticipants)[0];
}

export type RequisitionOrder = 'create_time' | 'update_time' | 'create_time_desc';

export interface RequisitionListQuery {
  parent: { provider: string } | { consumer: string; measurement: string };
  states: readonly string[];
  order: RequisitionOrder;
  updatedAfter: Timestamp | '-infinity';
  after: Cursor;
  limit: number;
  maxBytes: number;
}

function paged(name: string, candidates: string, sorted?: string) {
  return sql(
    name,
    longPageText(
      candidates,
      `${REQUISITION.select}, page.candidates, page.nth
         FROM page JOIN requisitions r ON r.id = page.id JOIN measurements m ON m.id = r.measurement`,
      { limit: 6, bytes: 7 },
      'page.nth',
      sorted,
    ),
    pageRow(REQUISITION.reader),
  );
}

/**
 * Returns the statement that lists a provider's requisitions. The statement reads at most one page of rows per state,
 * so its cost does not grow with the number of requisitions.
 */
function listOfProvider(order: RequisitionOrder) {
  const isDescending = order === 'create_time_desc';
  const position = isDescending ? 'create_time' : order;
  const [after, sorted] = isDescending ? ['<', 'position DESC, id DESC'] : ['>', 'position, id'];
  return paged(
    `requisition_list_by_${order}`,
    `SELECT page.* FROM unnest($2::text[]) AS wanted(state) CROSS JOIN LATERAL (
       SELECT r.id, r.${position} AS position, ${SIZE} AS size
         FROM requisitions r JOIN measurements m ON m.id = r.measurement
        WHERE r.provider = $1 AND r.state = wanted.state AND r.update_time > $3::timestamptz
          AND (r.${position}, r.id) ${after} ($4::timestamptz, $5)
        ORDER BY ${sorted} LIMIT $6::int + 1
     ) page ORDER BY ${sorted} LIMIT $6::int + 1`,
    sorted,
  );
}

/**
 * Returns the statement that lists the requisitions of a measurement. The statement reads all requisitions of the
 * measurement, because a measurement has few of them.
 */
function listOfMeasurement(order: 'create_time' | 'update_time') {
  return paged(
    `requisition_list_of_measurement_by_${order}`,
    `SELECT r.id, r.${order} AS position, ${SIZE} AS size
       FROM requisitions r JOIN measurements m ON m.id = r.measurement
      WHERE r.measurement = $1 AND m.consumer = $8 AND r.state = ANY($2::text[])
        AND r.update_time > $3::timestamptz AND (r.${order}, r.id) > ($4::timestamptz, $5)
      ORDER BY r.${order}, r.id LIMIT $6::int + 1`,
  );
}

const LIST = {
  provider: {
    create_time: listOfProvider('create_time'),
    update_time: listOfProvider('update_time'),
    create_time_desc: listOfProvider('create_time_desc'),
  },
  measurement: {
    create_time: listOfMeasurement('create_time'),
    update_time: listOfMeasurement('update_time'),
  },
};

export async function listRequisitions(
  db: Queryable,
  q: RequisitionListQuery,
): Promise<Page<RequisitionWithMeasurement>> {
  const rest = [q.states, q.updatedAfter, q.after.time, q.after.id, q.limit, q.maxBytes];
  const rows =
    'provider' in q.parent
      ? await db.query(LIST.provider[q.order], [q.parent.provider, ...rest])
      : await db.query(LIST.measurement[q.order === 'update_time' ? 'update_time' : 'create_time'], [
          q.parent.measurement,
          ...rest,
          q.parent.consumer,
        ]);
  const { items, more } = pageOf(rows);
  return { items: items.map(withParticipants), more };
}
