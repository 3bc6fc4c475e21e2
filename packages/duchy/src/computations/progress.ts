/** The position of a computation in the table of its protocol, and when the next stage begins. */
import { type MpcProtocol, protocolMath } from '@measurement-exchange/mpc/protocols';
import { COMPLETE, type StageRow } from '@measurement-exchange/mpc/protocols/stages';
import {
  messagesOf,
  type Queryable,
  readComputation,
  type StoredComputation,
  wake,
} from '../database/index.ts';
import { PermanentError } from './errors.ts';
import { duchiesAt } from './places.ts';

type Placed = Pick<StoredComputation, 'protocol' | 'role' | 'stage'>;

/** The row of the stage that a computation is in; undefined when its part is done. */
export function rowOf({ protocol, role, stage }: Placed): StageRow | undefined {
  const row = protocolMath(protocol).stages.find((r) => r.stage === stage && r.role === role);
  if (row === undefined && stage !== COMPLETE) {
    throw new PermanentError('PROTOCOL_UNKNOWN', { stage }, { detail: `${role} in ${protocol}` });
  }
  return row;
}

/** Every computation of a protocol begins with the first row of its table. */
export function firstStage(protocol: MpcProtocol): string {
  return protocolMath(protocol).stages[0]!.stage;
}

/** The duchies that send this message to a role; empty where the role takes no such message. */
export function sendersOf(
  { protocol, role, view }: Pick<StoredComputation, 'protocol' | 'role' | 'view'>,
  message: string,
): string[] {
  const rows = protocolMath(protocol).stages.filter((row) => row.role === role);
  return rows.flatMap(({ waitsFor }) =>
    waitsFor !== undefined && 'message' in waitsFor && waitsFor.message === message
      ? waitsFor.from.flatMap((place) => duchiesAt(place, view))
      : [],
  );
}

/** In the past by every clock. */
const AT_ONCE = new Date(0);

/** When a mill may take the stage: at once, or null while the stage waits. */
export function runAfter(placed: Placed): Date | null {
  return rowOf(placed)?.run === undefined ? null : AT_ONCE;
}

/**
 * Starts the next stage of a computation that has everything it waits for. It runs in the transaction that added something,
 * which has locked the row: of two transactions at once, the second one sees both additions.
 */
export async function endWaitIfReady(tx: Queryable, id: string): Promise<void> {
  const computation = await readComputation(tx, id);
  if (computation === undefined || computation.outcome !== null) return;
  const row = rowOf(computation);
  if (row?.waitsFor === undefined || !(await isThere(tx, row.waitsFor, computation))) return;
  await wake(tx, id, row.stage, row.next);
}

async function isThere(
  tx: Queryable,
  waitsFor: NonNullable<StageRow['waitsFor']>,
  { id, view }: StoredComputation,
): Promise<boolean> {
  if ('state' in waitsFor) return view.state === waitsFor.state;
  const messages = await messagesOf(tx, id);
  const senders = waitsFor.from.flatMap((place) => duchiesAt(place, view));
  return senders.every((sender) =>
    messages.some((m) => m.direction === 'IN' && m.stage === waitsFor.message && m.peer === sender),
  );
}
