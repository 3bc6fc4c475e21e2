/**
 * Reads the data that explains a measurement's state. One round trip reads the measurement. A second round trip reads
 * its parties, certificates, and progress reports.
 */
import type { Timestamp } from '@measurement-exchange/contract';
import { cell, object } from '@measurement-exchange/server/database';
import { dependenciesOf, type MeasurementOutline, type Trigger } from '../domain/aggregate.ts';
import { type Certificate, certificateName } from '../domain/certificate.ts';
import type { ExplainedAggregate, PartyFacts, RequisitionWithKey } from '../domain/explain/facts.ts';
import { latestReports, type ProgressRecord } from './computations.ts';
import { type Queryable, sql } from './db.ts';
import { aggregates, EXPLAINED, EXPLAINED_REQUISITION, type JoinedRow } from './measurementTables.ts';
import { column, optional, optionalGroup, table } from './table.ts';

export interface Explained {
  aggregate: ExplainedAggregate;
  cause: Trigger;
}
interface ExplainedRow {
  row: JoinedRow<MeasurementOutline, RequisitionWithKey>;
  cause: Trigger;
}
export const explained = object<ExplainedRow>({ row: EXPLAINED.reader, cause: cell('cause') });
export const CAUSE = `(SELECT cause FROM transitions t
  WHERE t.measurement = m.id AND t.requisition = '' AND t.version = m.version) AS cause`;

const STATEMENTS = {
  measurementConsumer: sql(
    'explained_measurement',
    `${EXPLAINED.select}, ${CAUSE} FROM measurements m JOIN requisitions r ON r.measurement = m.id
      WHERE m.consumer = $1 AND m.id = $2 ORDER BY r.ordinal`,
    explained,
  ),
  duchy: sql(
    'explained_computation',
    `${EXPLAINED.select}, ${CAUSE} FROM computations own JOIN measurements m ON m.id = own.id
       JOIN requisitions r ON r.measurement = m.id WHERE own.duchy = $1 AND own.id = $2 ORDER BY r.ordinal`,
    explained,
  ),
  dataProvider: sql(
    'explained_requisition',
    `${EXPLAINED_REQUISITION.select}, ${CAUSE}
       FROM requisitions r JOIN measurements m ON m.id = r.measurement WHERE r.provider = $1 AND r.id = $2`,
    explained,
  ),
};

/**
 * Reads a measurement to explain it to `party`. `id` is the ID of the measurement (for a consumer), the computation
 * (for a duchy), or the requisition (for a provider).
 */
export async function explainedAggregate(
  db: Queryable,
  viewer: keyof typeof STATEMENTS,
  party: string,
  id: string,
): Promise<Explained | undefined> {
  return withCauses(await db.query(STATEMENTS[viewer], [party, id]))[0];
}

/** Groups rows into measurements. The rows of a measurement must be adjacent, in the order of its requisitions. */
export function withCauses(rows: ExplainedRow[]): Explained[] {
  const causes = new Map(rows.map(({ row, cause }) => [row.measurement.id, cause]));
  return aggregates(rows.map(({ row }) => row)).map((aggregate) => ({
    aggregate,
    cause: causes.get(aggregate.measurement.id)!,
  }));
}

const parties = table<PartyFacts>('parties', {
  name: column('name'),
  state: column('state'),
  publicKey: optionalGroup('public_key', {
    message: column('public_key', 'bytes'),
    signature: column('public_key_signature', 'bytes'),
    signatureAlgorithm: optional('public_key_algorithm'),
  }),
  lastSeen: optional('last_seen', 'time'),
});
const PARTIES = sql(
  'explained_parties',
  `SELECT p.name, p.state, p.public_key, p.public_key_signature, p.public_key_algorithm, s.time AS last_seen
     FROM parties p LEFT JOIN last_seen s ON s.party = p.name WHERE p.name = ANY($1::text[])`,
  parties.reader(),
);

const certificates = table<Certificate>('certificates', {
  party: column('party'),
  id: column('id'),
  notBefore: column('not_before', 'time'),
  notAfter: column('not_after', 'time'),
  revocationState: optional('revocation_state'),
});
const CERTIFICATES = sql(
  'explained_certificates',
  `SELECT c.party, c.id, c.not_before, c.not_after, c.revocation_state
     FROM unnest($1::text[], $2::text[]) AS named(party, id) JOIN certificates c USING (party, id)`,
  certificates.reader(),
);

export interface Circumstances {
  parties: Map<string, PartyFacts>;
  certificates: Map<string, Certificate>;
  reports: ProgressRecord[];
}

export async function circumstancesOf(
  db: Queryable,
  explained: ExplainedAggregate[],
  lastSeen: (party: string, stored: Timestamp | undefined) => Timestamp | undefined,
): Promise<Circumstances> {
  const dependencies = explained.flatMap(dependenciesOf);
  const named = new Map(dependencies.map((one) => [certificateName(one.party, one.id ?? ''), one]));
  const owners = [...named.values()].map(({ party }) => party);
  const ids = [...named.values()].map(({ id }) => id);
  const computed = explained.filter(({ participants }) => participants.length > 0);
  const [partyRows, certificateRows, reports] = await Promise.all([
    db.query(PARTIES, [[...new Set(owners)]]),
    db.query(CERTIFICATES, [owners, ids]),
    computed.length === 0
      ? []
      : latestReports(
          db,
          computed.map(({ measurement }) => measurement.id),
        ),
  ]);
  return {
    parties: new Map(partyRows.map((p) => [p.name, { ...p, lastSeen: lastSeen(p.name, p.lastSeen) }])),
    certificates: new Map(certificateRows.map((c) => [certificateName(c.party, c.id), c])),
    reports,
  };
}
