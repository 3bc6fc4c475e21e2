/** Reads the input of a stage: sketches from providers and messages from other duchies. */
import type { Position } from '@measurement-exchange/contract';
import { checkPoints } from '@measurement-exchange/mpc/protocols/liquidLegions/stageWork';
import type { MessageSize } from '@measurement-exchange/mpc/protocols/messageSize';
import { PermanentError } from '../../computations/errors.ts';
import { duchiesAt, duchyAt } from '../../computations/places.ts';
import { readBlob } from '../../database/index.ts';
import { received } from '../../peers/inbox.ts';
import { ownUploads } from '../../stages/uploads.ts';
import type { Work } from '../../stages/work.ts';
import { POOL } from './pool.ts';

export async function ownSketches({ duchy, computation }: Work): Promise<Uint8Array[]> {
  const sketches: Uint8Array[] = [];
  for (const { blob } of await ownUploads(duchy, computation)) {
    sketches.push(Buffer.concat(await Array.fromAsync(readBlob(duchy.db, blob))));
  }
  return sketches;
}

interface Receiver extends Work {
  sizeOf(message: string, sender: string): MessageSize;
}

export async function fromWorkers(work: Receiver, message: string): Promise<Uint8Array[]> {
  const messages: Uint8Array[] = [];
  for (const worker of duchiesAt('EVERY_WORKER', work.computation.view)) {
    const bytes = await messageFrom(work, message, worker);
    // Check each worker's curve points before the messages are combined. In the combined message, nobody could tell
    // which worker sent an invalid point.
    const position = { stage: message, duchy: worker };
    await computed(position, () => checkPoints(bytes, POOL, { signal: work.signal }));
    messages.push(bytes);
  }
  return messages;
}

export async function fromPrevious(work: Receiver, message: string): Promise<Uint8Array> {
  return messageFrom(work, message, duchyAt('PREVIOUS', work.computation.view));
}

/** Reads a message, and checks that its size is possible for the number of sketches and the amount of noise. */
async function messageFrom({ duchy, computation, sizeOf }: Receiver, message: string, sender: string) {
  const bytes = Buffer.concat(await Array.fromAsync(received(duchy, computation, message, sender)));
  const { length } = bytes;
  const { least, most } = sizeOf(message, sender);
  if (length >= least && length <= most) return bytes;
  const detail = `${length} bytes instead of ${least === most ? least : `${least} to ${most}`}`;
  throw new PermanentError('PEER_MESSAGE_INVALID', { stage: message, duchy: sender }, { detail });
}

/** Names of the errors that mean that another duchy sent invalid bytes. */
const DEVIATIONS = ['LiquidLegionsError', 'RangeError'];

/** Runs `compute`. Converts an error about invalid input to a PermanentError, which fails the computation. */
export async function computed<T>(position: Position, compute: () => Promise<T>): Promise<T> {
  try {
    return await compute();
  } catch (error) {
    if (!(error instanceof Error && DEVIATIONS.includes(error.name))) throw error;
    // Don't put the error text into `detail`, which is logged, because the text may reveal a register's value.
    throw new PermanentError('PEER_MESSAGE_INVALID', position, { cause: error });
  }
}
