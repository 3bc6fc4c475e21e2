import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import {
  chain,
  enumList,
  enumListValue,
  expandingOption,
  setOf,
} from '@measurement-exchange/testkit/hostileDescriptors';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { ComputeThread } from './computeThread.ts';

/**
 * A compute thread that several tests share. Sharing saves time, because starting a thread takes longer than these
 * tests.
 */
const thread = new ComputeThread();
afterAll(() => thread.stop());

afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

const small = setOf({ name: 'a.proto', package: 'a', messageType: [{ name: 'M' }] });

describe('a compute thread', () => {
  it('returns the result of each job', async () => {
    const { run } = bound(thread);
    const set = await run('readSet', { set: { bytes: small } });
    expect(set.output).toMatchObject({ messageTypes: ['a.M'] });
    expect(set.ms).toBeGreaterThan(0);
    const rejected = await run('readSet', { set: { bytes: chain(300) } });
    expect(rejected.output).toMatchObject({ violations: [{ field: '' }] });
    const printed = await run('printSets', {
      sets: [small, expandingOption(60_000), small],
      maxBytes: 1e6,
    });
    const json = '{"file":[{"name":"a.proto","package":"a","messageType":[{"name":"M"}]}]}';
    expect(printed.output).toEqual([json, undefined, json]);
  });

  it('caches schemas, and reports missing ones', async () => {
    const { run } = bound(thread);
    const set = enumList(5);
    const schema = { id: 'd', version: 1, bytes: set.length };
    const message = { descriptor: 'd', typeUrl: 'x/list.M', value: enumListValue(2) };
    expect((await run('decode', { schema, message })).output).toEqual({ missing: ['d'] });
    const text = '{"e":["Vvvvx","Vvvvx"]}';
    expect((await run('decode', { schema: { ...schema, set }, message })).output).toEqual({ text });
    expect((await run('decode', { schema, message })).output).toEqual({ text });
    const next = { ...schema, version: 2 };
    expect((await run('decode', { schema: next, message })).output).toEqual({ missing: ['d'] });
  });

  it('terminates each job that takes too long', async () => {
    const { run } = bound(new ComputeThread(1));
    // A limit of 1 ms always ends this job, because the first job of a thread takes longer.
    const large = { before: chain(8_000), after: chain(8_000, { name: 'other' }) };
    await expect(run('diff', large)).rejects.toMatchObject({ reason: 'DESCRIPTOR_TOO_COSTLY' });
    await expect(run('diff', large)).rejects.toMatchObject({ reason: 'DESCRIPTOR_TOO_COSTLY' });
  });

  it('terminates a job when its CPU time reaches the limit, regardless of the elapsed time', async () => {
    const maxMs = 1_000;
    const slept = endSleepsUpTo(maxMs);
    const used = vi.spyOn(Worker.prototype, 'cpuUsage');
    for (const ms of [0, 600, 999, 1_000]) used.mockResolvedValueOnce({ user: ms * 900, system: ms * 100 });
    const { run } = bound(new ComputeThread(maxMs));
    await expect(run('readSet', { set: { bytes: chain(8_000) } })).rejects.toMatchObject({
      reason: 'DESCRIPTOR_TOO_COSTLY',
    });
    expect(slept).toEqual([4 * maxMs, maxMs, 400, 1]);
  });

  it('terminates a job after four times the limit without a CPU time, and then runs the next job', async () => {
    const slept = endSleepsUpTo(24_000);
    vi.spyOn(Worker.prototype, 'cpuUsage').mockReturnValue(new Promise(() => {}));
    const { run } = bound(new ComputeThread(6_000));
    await expect(run('readSet', { set: { bytes: chain(8_000) } })).rejects.toMatchObject({
      reason: 'DESCRIPTOR_TOO_COSTLY',
    });
    expect(slept).toEqual([24_000]);
    vi.restoreAllMocks();
    syncBuiltinESMExports();
    expect((await run('readSet', { set: { bytes: small } })).output).toMatchObject({ messageTypes: ['a.M'] });
  });

  it('is replaced after it was stopped', async () => {
    const { run } = bound(thread);
    await run('readSet', { set: { bytes: small } });
    await thread.stop();
    expect((await run('readSet', { set: { bytes: small } })).output).toMatchObject({ messageTypes: ['a.M'] });
  });

  it('runs a job in a new thread while the old one is being stopped', async () => {
    const { run } = bound(thread);
    await run('readSet', { set: { bytes: small } });
    const stopped = thread.stop();
    expect((await run('readSet', { set: { bytes: small } })).output).toMatchObject({ messageTypes: ['a.M'] });
    await stopped;
  });

  it('rejects with the original TypeError if our code is defective', async () => {
    const { run } = bound(thread);
    await expect(run('diff', { before: undefined as never, after: small })).rejects.toBeInstanceOf(TypeError);
  });
});

/**
 * Makes sleeps of at most `maxMs` milliseconds end immediately. All longer sleeps never end. Returns an array that
 * collects the requested duration of each sleep, in milliseconds.
 */
function endSleepsUpTo(maxMs: number): number[] {
  const slept: number[] = [];
  vi.spyOn(timers, 'setTimeout').mockImplementation((ms = 0) => {
    slept.push(ms);
    return ms <= maxMs ? Promise.resolve() : (new Promise(() => {}) as never);
  });
  syncBuiltinESMExports();
  return slept;
}

function bound(of: ComputeThread) {
  return { run: of.run.bind(of) };
}
