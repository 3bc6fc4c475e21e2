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
 * A thread for all tests that do not end their thread. Sharing it saves time, because starting a thread takes longer
 * than these tests.
 */
const thread = new ComputeThread();
afterAll(() => thread.stop());

afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

const small = setOf({ name: 'a.proto', package: 'a', messageType: [{ name: 'M' }] });

describe('a thread for jobs', () => {
  it('gives what the job gives, one after the other', async () => {
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

  it('keeps schemas, and asks for those that it does not have', async () => {
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

  it('ends a job that takes too long, and goes on with the next one', async () => {
    const { run } = bound(new ComputeThread(1));
    // A limit of 1 ms always ends this job, because the first job of a thread takes longer.
    const large = { before: chain(8_000), after: chain(8_000, { name: 'other' }) };
    await expect(run('diff', large)).rejects.toMatchObject({ reason: 'DESCRIPTOR_TOO_COSTLY' });
    await expect(run('diff', large)).rejects.toMatchObject({ reason: 'DESCRIPTOR_TOO_COSTLY' });
  });

  it('ends a job at its limit of processor time, however long that takes', async () => {
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

  it('ends a job that waits too long, also if the thread does not say how much it has used', async () => {
    const slept = endSleepsUpTo(4_000);
    vi.spyOn(Worker.prototype, 'cpuUsage').mockReturnValue(new Promise(() => {}));
    const { run } = bound(new ComputeThread(1_000));
    await expect(run('readSet', { set: { bytes: chain(8_000) } })).rejects.toMatchObject({
      reason: 'DESCRIPTOR_TOO_COSTLY',
    });
    expect(slept).toEqual([4_000]);
  });

  it('is replaced when it was ended', async () => {
    const { run } = bound(thread);
    await run('readSet', { set: { bytes: small } });
    await thread.stop();
    expect((await run('readSet', { set: { bytes: small } })).output).toMatchObject({ messageTypes: ['a.M'] });
  });

  it('does not give a job to a thread that is being ended', async () => {
    const { run } = bound(thread);
    await run('readSet', { set: { bytes: small } });
    const stopped = thread.stop();
    expect((await run('readSet', { set: { bytes: small } })).output).toMatchObject({ messageTypes: ['a.M'] });
    await stopped;
  });

  it('tells of a defect of ours as it is', async () => {
    const { run } = bound(thread);
    await expect(run('diff', { before: undefined as never, after: small })).rejects.toBeInstanceOf(TypeError);
  });
});

/**
 * Makes sleeps of at most this many milliseconds end immediately. All longer sleeps never end. Returns a list of all
 * sleeps.
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
