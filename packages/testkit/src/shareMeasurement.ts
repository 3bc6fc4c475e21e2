/**
 * Uses SQL to turn stored measurements into measurements that duchies compute. Needed for exchanges without the setting
 * `protocols`.
 */
import { logChanges } from './bulk.ts';
import type { Database } from './exchange.ts';

/** The names of the duchies. Each has a certificate with the ID `key1`. */
export interface Sharing {
  firstWorker: string;
  secondWorker: string;
  aggregator: string;
}

const quote = (text: string) => `'${text.replaceAll("'", "''")}'`;

/**
 * Changes pending measurements as if they had been created for these duchies and their computations had reached the
 * state `until`. The protocol is share shuffle, or reach-only Liquid Legions if `until` is PENDING_CONFIRMATION. Share
 * shuffle needs a population, which must exist. The first worker receives the data of every provider. For the states
 * COMPUTING and PENDING_CONFIRMATION, this function fulfills each measurement's requisitions with the nonces 1, 2 and
 * so on in their order. The requisitions must have been created with these nonces.
 */
export async function shareMeasurement(
  database: Database,
  ids: string | string[],
  duchies: Sharing,
  until: 'PENDING_PARAMS' | 'PENDING_FULFILLMENT' | 'PENDING_CONFIRMATION' | 'COMPUTING' = 'PENDING_PARAMS',
): Promise<void> {
  const { firstWorker, secondWorker, aggregator } = duchies;
  const those = `IN (${[ids].flat().map(quote).join(', ')})`;
  const isSet = until !== 'PENDING_PARAMS';
  const isRing = until === 'PENDING_CONFIRMATION';
  const isComputing = until === 'COMPUTING' || isRing;
  const later = (micros: number) => `create_time + interval '${micros} microseconds'`;
  const hiding = { epsilon: 0.1, delta: 1e-9 };
  const noiseMechanism = 'DISCRETE_GAUSSIAN';
  const config = isRing
    ? {
        ...{ workers: [firstWorker, secondWorker], aggregator, noiseMechanism, decayRate: 12, maxSize: 1000 },
        ...{ histogramPrivacyParams: hiding, publisherPrivacyParams: hiding },
      }
    : { ...duchies, noiseMechanism, ringModulus: 127 };
  const population = `(
    SELECT jsonb_build_object('population', 'populations/' || p.id, 'populationFingerprint', encode(fingerprint, 'base64'))
      FROM populations p ORDER BY p.id LIMIT 1)`;
  const protocol = isRing ? 'reachOnlyLiquidLegionsV2' : 'honestMajorityShareShuffle';
  const [cause, setState] = isRing ? ['keysSet', 'PARAMS_SET'] : ['parametersSet', 'READY'];
  const roles = isRing ? ['WORKER', 'WORKER'] : ['FIRST_WORKER', 'SECOND_WORKER'];
  const keyed = (hasKey: boolean, value: string) =>
    hasKey ? `CASE WHEN ${isRing} OR role <> 'AGGREGATOR' THEN '${value}'::bytea END` : 'NULL';
  const log = (select: string) =>
    `INSERT INTO transitions (measurement, requisition, version, from_state, to_state, time, actor, cause, request_id)
     ${select};`;
  // Send all statements in one query, so that one connection runs the whole transaction. PostgreSQL accepts several
  // statements in a query only if the query has no parameters.
  await database.query(`
    BEGIN;
    UPDATE measurements SET protocol = '${protocol}',
           protocol_config = ${quote(JSON.stringify(config))}::jsonb ${isRing ? '' : `|| ${population}`}
      ${isComputing ? `, state = 'COMPUTING', version = 2, update_time = ${later(2)}` : ''} WHERE id ${those};
    UPDATE requisitions SET fulfilling_duchy = ${quote(firstWorker)}
      ${isSet && !isComputing ? `, version = 2, update_time = ${later(1)}` : ''}
      ${isComputing ? `, state = 'FULFILLED', nonce = ordinal + 1, version = 3, update_time = ${later(2)}` : ''}
     WHERE measurement ${those};
    INSERT INTO computations (id, duchy, role, state, participant_state, version, certificate, key_message, key_signature,
           elgamal_message, elgamal_signature, create_time, update_time)
    SELECT m.id, duchy, role, ${quote(until)}, ${isSet ? `'${setState}', 2, 'key1'` : `'CREATED', 1, NULL`},
           ${keyed(isSet, 'key')}, ${keyed(isSet, 'x')}, ${keyed(isRing, 'key')}, ${keyed(isRing, 'x')},
           m.create_time, ${isComputing ? `m.update_time` : isSet ? `m.${later(1)}` : 'm.create_time'}
      FROM measurements m CROSS JOIN (VALUES (${quote(firstWorker)}, '${roles[0]}'),
             (${quote(secondWorker)}, '${roles[1]}'), (${quote(aggregator)}, 'AGGREGATOR')) AS d(duchy, role)
     WHERE m.id ${those};
    ${log(`SELECT id, duchy, 1, NULL, 'CREATED', create_time, 'test', 'created', 'test'
             FROM computations WHERE id ${those}`)}
    ${
      isSet
        ? log(`SELECT id, duchy, 2, 'CREATED', '${setState}', ${later(1)}, duchy, '${cause}', 'test'
                 FROM computations WHERE id ${those}
                UNION ALL
               SELECT measurement, id, 2, 'UNFULFILLED', 'UNFULFILLED', ${later(1)}, 'test', 'parametersSet', 'test'
                 FROM requisitions WHERE measurement ${those}`)
        : ''
    }
    ${
      isComputing
        ? log(`SELECT measurement, id, 3, 'UNFULFILLED', 'FULFILLED', ${later(2)}, 'test', 'fulfilled', 'test'
                 FROM requisitions WHERE measurement ${those}
                UNION ALL
               SELECT id, '', 2, 'AWAITING_REQUISITION_FULFILLMENT', 'COMPUTING', update_time, 'test', 'allFulfilled', 'test'
                 FROM measurements WHERE id ${those}`)
        : ''
    }
    ${logChanges(those)}
    COMMIT`);
}
