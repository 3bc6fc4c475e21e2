/** Checks the tombstones that the retention left of measurements. */
import { TERMINAL_MEASUREMENT_STATES, TERMINAL_REQUISITION_STATES } from '@measurement-exchange/contract';
import { checks, NAME, RESTORE, unionAll } from './check.ts';

export const tombstoneChecks = checks({
  'tombstone-alive': {
    meaning: 'A measurement or requisition was removed by the retention, and is still there.',
    remedy: `Delete the tombstone if it was restored by intent. ${RESTORE}`,
    names: unionAll(
      `SELECT ${NAME.measurement} AS name FROM measurement_tombstones m JOIN measurements USING (id)`,
      `SELECT ${NAME.requisition} FROM requisition_tombstones r JOIN requisitions USING (id)`,
    ),
  },
  'tombstone-state': {
    meaning: 'A measurement or requisition was removed by the retention before it had ended.',
    names: unionAll(
      `SELECT ${NAME.measurement} AS name FROM measurement_tombstones m WHERE m.state <> ALL($1::text[])`,
      `SELECT ${NAME.requisition} FROM requisition_tombstones r WHERE r.state <> ALL($2::text[])`,
    ),
    values: [TERMINAL_MEASUREMENT_STATES, TERMINAL_REQUISITION_STATES],
  },
  'tombstone-requisitions': {
    meaning: 'A measurement was removed by the retention without a trace of its requisitions.',
    names: `SELECT ${NAME.measurement} AS name FROM measurement_tombstones m
       LEFT JOIN requisition_tombstones r ON r.measurement = m.id WHERE r.id IS NULL`,
  },
});
