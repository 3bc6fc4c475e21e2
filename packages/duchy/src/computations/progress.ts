/** Looks up a computation's current stage in its protocol's stage table, and starts the next stage. */
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

/**
 * Returns the row of the stage table for the current stage, or undefined if this duchy has completed its last stage.
 */
export function rowOf({ protocol, role, stage }: Placed): StageRow | undefined {
  const row = protocolMath(protocol).stages.find((r) => r.stage === stage && r.role === role);
  if (row === undefined && stage !== COMPLETE) {
    throw new PermanentError('PROTOCOL_UNKNOWN', { stage }, { detail: `${role} in ${protocol}` });
  }
  return row;
}

export function firstStage(protocol: MpcProtocol): string {
  return protocolMath(protocol).stages[0]!.stage;
}

/**
 * Returns the duchies that send this message to this duchy, or an empty array if this duchy's role expects no such
 * message.
 */
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

/** A time in the past, so that the stage is due immediately. */
const AT_ONCE = new Date(0);

export function runAfter(placed: Placed): Date | null {
  return rowOf(placed)?.run === undefined ? null : AT_ONCE;
}

/**
 * Starts the next stage if the current stage has all its input. Call this in the transaction that stores the input.
 * That transaction locks the row of the computation, so the last of several concurrent transactions sees all inputs.
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
