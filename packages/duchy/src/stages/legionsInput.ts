/** What the stages of a ring work on: sketches of providers, and what the other duchies sent. */
import type { Position } from '@measurement-exchange/contract';
import { checkPoints } from '@measurement-exchange/mpc/liquidLegions';
import { PermanentError } from '../computations/errors.ts';
import { duchiesAt, duchyAt } from '../computations/places.ts';
import { readBlob, type StoredComputation } from '../database/index.ts';
import { received } from '../peers/inbox.ts';
import { POOL } from '../threads/pool.ts';
import { messageSize } from './sizes.ts';
import { ownUploads } from './uploads.ts';
import type { Work } from './work.ts';

export async function ownSketches({ duchy, computation }: Work): Promise<Uint8Array[]> {
  const sketches: Uint8Array[] = [];
  for (const { blob } of await ownUploads(duchy, computation)) {
    sketches.push(Buffer.concat(await Array.fromAsync(readBlob(duchy.db, blob))));
  }
  return sketches;
}

export async function fromWorkers(work: Work, message: string): Promise<Uint8Array[]> {
  const messages: Uint8Array[] = [];
  for (const worker of duchiesAt('EVERY_WORKER', work.computation.view)) {
    const bytes = await messageFrom(work, message, worker);
    // Nothing is computed with them before the next duchy has them, which could not tell whose they are.
    const position = { stage: message, duchy: worker };
    await computed(position, () => checkPoints(bytes, POOL, { signal: work.signal }));
    messages.push(bytes);
  }
  return messages;
}

export async function fromPrevious(work: Work, message: string): Promise<Uint8Array> {
  return messageFrom(work, message, duchyAt('PREVIOUS', work.computation.view));
}

async function messageFrom(
  { duchy, computation }: Work,
  message: string,
  sender: string,
): Promise<Uint8Array> {
  const bytes = Buffer.concat(await Array.fromAsync(received(duchy, computation, message, sender)));
  requireSize(computation, message, sender, bytes.length);
  return bytes;
}

/** As many registers as all sketches and all noise are. */
function requireSize(computation: StoredComputation, message: string, sender: string, length: number): void {
  const { least, most } = messageSize(computation, message, sender);
  if (length >= least && length <= most) return;
  const expected = least === most ? least : `${least} to ${most}`;
  throw new PermanentError(
    'PEER_MESSAGE_INVALID',
    { stage: message, duchy: sender },
    { detail: `${length} bytes instead of ${expected}` },
  );
}

/** Errors that tell of bytes that nobody who follows the protocol sends. */
const DEVIATIONS = ['LiquidLegionsError', 'RangeError'];

/** Ends the computation where what came in cannot be computed with. */
export async function computed<T>(position: Position, compute: () => Promise<T>): Promise<T> {
  try {
    return await compute();
  } catch (error) {
    if (!(error instanceof Error && DEVIATIONS.includes(error.name))) throw error;
    // What the error says may tell of a register.
    throw new PermanentError('PEER_MESSAGE_INVALID', position, { cause: error });
  }
}
