/**
 * Checks that each computation has the duchies of its measurement's configuration, and that its state matches the
 * measurement's state. Also checks the duchies' parameters, confirmations, failures, and results, and the duchy that
 * receives each requisition's data.
 */
import { checks, NAME, RESTORE, unionAll } from './check.ts';

const CONFIGURED = unionAll(
  `SELECT m.id, role, m.protocol_config ->> member AS duchy
     FROM measurements m CROSS JOIN (VALUES
            ('FIRST_WORKER', 'firstWorker'), ('SECOND_WORKER', 'secondWorker'), ('AGGREGATOR', 'aggregator')
          ) AS configured(role, member)
    WHERE m.protocol_config ? member`,
  `SELECT m.id, 'WORKER', worker
    FROM measurements m CROSS JOIN jsonb_array_elements_text(m.protocol_config -> 'workers') AS ring(worker)`,
);

/** The state and the update time that each computation must have, according to its measurement and its participants. */
const EXPECTED = `
  SELECT m.id, CASE WHEN m.state = 'COMPUTING' AND bool_or(c.participant_state = 'PARAMS_SET') THEN 'PENDING_CONFIRMATION'
                    WHEN m.state <> 'AWAITING_REQUISITION_FULFILLMENT' THEN m.state
                    WHEN bool_and(c.certificate IS NOT NULL) THEN 'PENDING_FULFILLMENT'
                    ELSE 'PENDING_PARAMS' END AS state,
         max(c.update_time) AS update_time
    FROM measurements m JOIN computations c ON c.id = m.id GROUP BY m.id, m.state`;

export const computationChecks = checks({
  'computation-participants': {
    meaning:
      'The participants of a computation are not the duchies that its measurement was configured with.',
    remedy: `Cancel the measurement and create it again. ${RESTORE}`,
    names: `SELECT ${NAME.measurement} AS name FROM (${CONFIGURED}) AS configured
       FULL JOIN computations c ON c.id = configured.id AND c.role = configured.role AND c.duchy = configured.duchy
       JOIN measurements m ON m.id = coalesce(configured.id, c.id)
      WHERE configured.id IS NULL OR c.id IS NULL`,
  },
  'computation-state': {
    meaning:
      'A computation is not in the state that follows from its measurement and its participants, or its update time ' +
      'differs between its participants.',
    names: `SELECT ${NAME.computation} AS name FROM computations c JOIN (${EXPECTED}) AS expected USING (id)
      WHERE (c.state, c.update_time) <> (expected.state, expected.update_time)`,
  },
  'computation-parameters': {
    meaning: 'A duchy lacks parameters that its state or the state of the computation requires.',
    remedy: `Cancel the measurement and create it again. ${RESTORE}`,
    names: `SELECT ${NAME.computation} AS name FROM computations c
      WHERE c.state IN ('PENDING_FULFILLMENT', 'PENDING_CONFIRMATION', 'COMPUTING', 'SUCCEEDED') AND c.certificate IS NULL
         OR c.participant_state <> 'FAILED' AND (c.certificate IS NULL) <> (c.participant_state = 'CREATED')
         OR c.certificate IS NOT NULL AND c.role <> 'AGGREGATOR' AND c.key_message IS NULL
         OR c.certificate IS NULL AND c.key_message IS NOT NULL
         OR (c.key_message IS NULL) <> (c.key_signature IS NULL)
         OR (c.elgamal_message IS NULL) <> (c.elgamal_signature IS NULL)
         OR (c.elgamal_message IS NOT NULL) <> (c.certificate IS NOT NULL AND EXISTS (
              SELECT FROM measurements m WHERE m.id = c.id AND m.protocol_config ? 'workers'))`,
  },
  'computation-confirmation': {
    meaning:
      'A duchy confirmed a computation before all data had arrived, or a computation that needs no confirmation waits ' +
      'for one.',
    remedy: `Cancel the measurement and create it again. ${RESTORE}`,
    names: `SELECT ${NAME.computation} AS name FROM computations c JOIN measurements m ON m.id = c.id
      WHERE m.protocol_config ? 'workers' AND c.participant_state = 'READY' AND EXISTS (
              SELECT FROM requisitions r WHERE r.measurement = m.id AND r.state <> 'FULFILLED')
         OR c.participant_state = 'PARAMS_SET' AND (NOT m.protocol_config ? 'workers' OR m.state = 'SUCCEEDED')`,
  },
  'computation-result': {
    meaning:
      'A measurement that duchies compute is SUCCEEDED without the result of its aggregator, or has a result without ' +
      'being SUCCEEDED.',
    remedy: `Do not trust its result. ${RESTORE}`,
    names: `SELECT ${NAME.measurement} AS name FROM measurements m
      WHERE num_nulls(m.result_duchy, m.result_certificate, m.result_ciphertext, m.result_type_url)
            <> CASE WHEN m.state = 'SUCCEEDED' AND m.protocol <> 'direct' THEN 0 ELSE 4 END
         OR m.result_duchy <> m.protocol_config ->> 'aggregator'`,
  },
  'computation-failure': {
    meaning: 'A duchy has given up a computation that has not FAILED.',
    remedy: `Cancel the measurement if it is pending, else do not trust its result. ${RESTORE}`,
    names: `SELECT ${NAME.computation} AS name FROM computations c JOIN measurements m ON m.id = c.id
      WHERE c.participant_state = 'FAILED' AND m.state <> 'FAILED'`,
  },
  'fulfilling-duchy': {
    meaning:
      'The data of a requisition goes to no duchy, or to a duchy that is not a worker of the computation.',
    remedy: `Cancel the measurement and create it again. ${RESTORE}`,
    names: `SELECT ${NAME.requisition} AS name FROM requisitions r JOIN measurements m ON m.id = r.measurement
      WHERE CASE WHEN m.protocol_config IS NULL THEN r.fulfilling_duchy IS NOT NULL
                 ELSE NOT coalesce(jsonb_build_array(m.protocol_config -> 'firstWorker', m.protocol_config -> 'secondWorker')
                                   || coalesce(m.protocol_config -> 'workers', '[]') ? r.fulfilling_duchy, false) END`,
  },
});
