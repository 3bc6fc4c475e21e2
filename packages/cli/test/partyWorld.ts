/** An exchange with parties that answer as a test says, and `mex` as people and scripts see it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Party, startWorld, type World } from '@measurement-exchange/testkit/world';
import { afterAll, afterEach, beforeAll, expect, vi } from 'vitest';
import { createMex } from '../src/program.ts';

export let w: World;
let folder: string;

/** Once in a file, at its top. Streamly and Chirper describe an event group `spring` to Acme. */
export function useWorld(): void {
  beforeAll(async () => {
    w = await startWorld();
    folder = await mkdtemp(join(tmpdir(), 'mex-party-'));
    vi.stubEnv('MEX_DATA_DIR', w.x.dataDir);
    vi.stubEnv('DATABASE_URL', w.x.database.url);
    for (const provider of [w.streamly, w.chirper]) await describeTo(w.acme, provider, 'spring');
  });
  afterAll(async () => {
    expect(await w.x.stop()).toEqual([]);
    await rm(folder, { recursive: true });
  });
  afterEach(() => {
    for (const name of ['MEX_TOKEN', 'MEX_URL']) vi.stubEnv(name, undefined);
  });
}

export const path = (file: string) => join(folder, file);

/** The name of a new event group. */
export async function describeTo(consumer: Party, provider: Party, reference: string): Promise<string> {
  const body = { measurementConsumer: consumer.name, eventGroupReferenceId: reference };
  return (await provider.client.createEventGroup({ parent: provider.name, body })).name!;
}

export interface Ran {
  out: string;
  err: string;
  /** What the command ended with, if not well. */
  error?: Error & { exitCode?: number };
}

/** `mex …` in this process, with both streams, whatever its end. */
export async function run(...args: string[]): Promise<Ran> {
  const printed = { out: '', err: '' };
  const capture = (member: 'out' | 'err') => (chunk: string | Uint8Array) => {
    printed[member] += chunk;
    return true;
  };
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation(capture('out')),
    vi.spyOn(process.stderr, 'write').mockImplementation(capture('err')),
  ];
  try {
    await createMex().parseAsync(args, { from: 'user' });
    return printed;
  } catch (error) {
    return { ...printed, error: error as Error };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

/** The values of JSON lines. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
export const lines = (text: string): any[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

/** The measurement that waits for this provider, once there is one. */
export function asked(provider: Party): Promise<string> {
  return vi.waitUntil(
    async () => {
      const states = { 'filter.states': ['UNFULFILLED' as const] };
      const { requisitions } = await provider.client
        .listRequisitions({ parent: provider.name, ...states })
        .page();
      return requisitions.at(-1)?.measurement;
    },
    { timeout: 20_000, interval: 50 },
  ) as Promise<string>;
}
