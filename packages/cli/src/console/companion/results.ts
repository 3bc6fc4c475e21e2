/** Decrypts and verifies the results of a consumer's measurements. */
import { type OpenedResult, VERIFIED_MS } from '@measurement-exchange/console/companion';
import { isTerminal, type Measurement } from '@measurement-exchange/contract';
import { type Consumer, ResultRejected, verifyMeasurement } from '@measurement-exchange/sdk';
import { LRUCache } from 'lru-cache';
import type { Acting } from '../../connection/credentials.ts';
import { failureOf } from './failure.ts';
import type { Questions } from './questions.ts';

export type ActingConsumer = Acting & { consumer: Consumer };

const CACHED = { max: 500, ttl: VERIFIED_MS };

/**
 * Returns a function that decrypts and verifies a measurement's result. The outcome is cached for each version of a
 * measurement.
 */
export function createResults(
  acting: ActingConsumer,
  questions: Questions,
): (name: string) => Promise<OpenedResult> {
  const cache = new LRUCache<string, OpenedResult>(CACHED);
  return async (name) => {
    const measurement = await acting.client.getMeasurement({ name });
    const version = `${name} ${measurement.state} ${measurement.updateTime}`;
    const known = cache.get(version);
    if (known !== undefined) return known;
    const opened = await open(acting, questions, measurement);
    cache.set(version, opened);
    return opened;
  };
}

async function open(
  acting: ActingConsumer,
  questions: Questions,
  measurement: Measurement,
): Promise<OpenedResult> {
  if (measurement.deleteTime !== undefined) {
    const error = 'The retention of the exchange has removed its contents.';
    return { steps: [], error, reason: 'CONTENT_REMOVED' };
  }
  const steps = await verifyMeasurement(acting, measurement);
  if (measurement.state !== 'SUCCEEDED') return { steps, ...absence(measurement) };
  if (!(await questions.isSame(measurement))) {
    const error =
      'The exchange returned another question under this name before, so its result is not shown.';
    return { steps, error, reason: 'QUESTION_CHANGED' };
  }
  try {
    return { result: await acting.consumer.open(measurement), steps };
  } catch (error) {
    if (!(error instanceof ResultRejected)) throw error;
    const { message, reason } = failureOf(error);
    return { steps, error: message, reason };
  }
}

function absence({ state, failure }: Measurement): { error: string; reason: string } {
  if (!isTerminal(state)) return { error: 'It has no result yet.', reason: 'RESULT_PENDING' };
  if (state === 'CANCELLED') return { error: 'It was canceled.', reason: 'CANCELLED' };
  return { error: `It failed: ${failure?.message ?? state}`, reason: failure?.reason ?? state };
}
