/** Checks the tombstones of measurements that retention removed. */
import { TERMINAL_MEASUREMENT_STATES, TERMINAL_REQUISITION_STATES } from '@measurement-exchange/contract';
import { checks, NAME, RESTORE, unionAll } from './check.ts';

export const tombstoneChecks = checks({
  'tombstone-alive': {
    meaning: 'A measurement or requisition has a tombstone, but was not removed.',
    remedy: `Delete the tombstone if the row was restored on purpose. ${RESTORE}`,
    names: unionAll(
      `SELECT ${NAME.measurement} AS name FROM measurement_tombstones m JOIN measurements USING (id)`,
      `SELECT ${NAME.requisition} FROM requisition_tombstones r JOIN requisitions USING (id)`,
    ),
  },
  'tombstone-state': {
    meaning: 'Retention removed a measurement or requisition before it had ended.',
    names: unionAll(
      `SELECT ${NAME.measurement} AS name FROM measurement_tombstones m WHERE m.state <> ALL($1::text[])`,
      `SELECT ${NAME.requisition} FROM requisition_tombstones r WHERE r.state <> ALL($2::text[])`,
    ),
    values: [TERMINAL_MEASUREMENT_STATES, TERMINAL_REQUISITION_STATES],
  },
  'tombstone-requisitions': {
    meaning: 'A removed measurement has a tombstone, but its requisitions have none.',
    names: `SELECT ${NAME.measurement} AS name FROM measurement_tombstones m
       LEFT JOIN requisition_tombstones r ON r.measurement = m.id WHERE r.id IS NULL`,
  },
});
