/** Checks that a duchy responds. Waits for a demo duchy, because the exchange may still be starting it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PeerAddress } from '@measurement-exchange/duchy';
import { note } from '../../terminal/output.ts';
import { loadDuchy } from '../settings.ts';
import type { Subject } from './subject.ts';

/**
 * The maximum time to wait for a demo duchy. The duchy responds a few seconds after the exchange starts it. On a busy
 * machine, this takes longer.
 */
const STARTING_MS = 30_000;
const PAUSE_MS = 200;

export async function requireAnswer(
  { demoDuchies }: Pick<Subject, 'demoDuchies'>,
  duchy: string,
  address: PeerAddress,
  startingMs = STARTING_MS,
): Promise<void> {
  const { requireHealthy } = await loadDuchy();
  const end = performance.now() + (demoDuchies.includes(duchy) ? startingMs : 0);
  for (let isNoted = false; ; isNoted = true) {
    try {
      return await requireHealthy(address);
    } catch (error) {
      if (performance.now() >= end) throw error;
    }
    if (!isNoted) note(`${duchy} does not answer yet: waiting up to ${startingMs / 1000} s for its start.`);
    await sleep(PAUSE_MS);
  }
}
