/** Tests that every requisition is answered once and charged once, even if the agent is killed at any point. */

import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Measurement, toBase64 } from '@measurement-exchange/contract';
import { DAYS, type ProviderWorld, startProviderWorld } from '@measurement-exchange/testkit/providerWorld';
import { isStress, rounds } from '@measurement-exchange/testkit/rounds';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAgent, type Events, openEvents, openLedger } from '../../src/provider/index.ts';
import { bundleAgent } from './agentBundle.ts';
import type { AgentJob } from './agentProcess.ts';

/** The number of kills at random points. */
const KILLS = rounds(20);
/**
 * The number of kills between charge and scan, and again between result and fulfillment. Keep twice this number below
 * five, because an agent refuses a requisition after five crashes during the work on it.
 */
const KILLS_AT_EACH = rounds(2, 1);
const BUDGET = { epsilon: 1e5, delta: 1, rho: 1e3 };

let world: ProviderWorld;
let events: Events;
let script: string;
beforeAll(async () => {
  world = await startProviderWorld();
  script = await bundleAgent(world.directory);
  events = await openEvents({ files: world.events, threads: 1 });
});
afterAll(async () => {
  await events.close();
  expect(await world.stop()).toEqual([]);
});

/**
 * Checks that the ledger and the exchange have the same results. Returns the states of the requisitions, how often each
 * requisition was closed, and the charges.
 */
async function reckon(path: string, asked: Measurement[]) {
  const ledger = openLedger(path, BUDGET);
  try {
    const requisitions = await Promise.all(asked.map((measurement) => world.requisitionOf(measurement)));
    const timelines = await Promise.all(
      requisitions.map(({ name }) => world.streamly.client.getRequisitionTimeline({ name }).page()),
    );
    const measurements = await Promise.all(
      asked.map(({ name }) => world.acme.client.getMeasurement({ name: name! })),
    );
    // The exchange must have the result that is stored in the ledger. A different result would mean that the agent drew
    // noise a second time.
    for (const [i, { state, results }] of measurements.entries()) {
      const reply = ledger.response(requisitions[i]!.name)!;
      if (state === 'SUCCEEDED')
        expect(reply).toMatchObject({ encryptedResult: results![0]!.encryptedResult });
      else expect(reply).toMatchObject({ refusal: { justification: 'SPEC_INVALID' } });
    }
    expect(ledger.audit()).toEqual([]);
    return {
      states: requisitions.map(({ state }) => state),
      /** The number of times that each requisition left the state UNFULFILLED. */
      closings: timelines.map(
        ({ transitions }) => transitions.filter(({ from }) => from === 'UNFULFILLED').length,
      ),
      spending: ledger.spending().map(({ day, spent }) => [day, spent]),
    };
  } finally {
    ledger.close();
  }
}

/** Returns the encrypted results that are stored in the ledger, in base64. */
async function answersIn(path: string, asked: Measurement[]): Promise<string[]> {
  const requisitions = await Promise.all(asked.map((measurement) => world.requisitionOf(measurement)));
  const ledger = openLedger(path, BUDGET);
  try {
    const replies = requisitions.map(({ name }) => ledger.response(name));
    return replies.flatMap((reply) =>
      reply && 'encryptedResult' in reply ? [toBase64(reply.encryptedResult.ciphertext)] : [],
    );
  } finally {
    ledger.close();
  }
}

const each = <T>(count: number, value: T) => Array.from({ length: count }, () => value);

it('an agent resends the same bytes and charges once after failures between result and fulfillment', async () => {
  const [count, times] = [rounds(20, 3), rounds(10, 2)];
  const asked = await Promise.all(
    each(count, 0).map(() => world.ask({ privacy: { epsilon: 0.1, delta: 0 } })),
  );
  const path = join(world.directory, 'failures.sqlite');
  const sent = new Map<string, Set<string>>();
  let failures = 0;
  const failing =
    (fail: boolean): typeof fetch =>
    (input, init) => {
      const [, requisition] = /requisitions\/(\w+):fulfillDirect/.exec(String(input)) ?? [];
      if (requisition === undefined) return fetch(input, init);
      const { encryptedResult } = JSON.parse(String(init!.body));
      sent.set(requisition, (sent.get(requisition) ?? new Set()).add(JSON.stringify(encryptedResult)));
      if (!fail) return fetch(input, init);
      failures++;
      return Promise.reject(new TypeError('fetch failed'));
    };
  for (let round = 0; round <= times; round++) {
    const ledger = openLedger(path, BUDGET);
    const client = world.client({ fetch: failing(round < times), maxAttempts: 1 });
    const agent = createAgent({
      client,
      credentials: world.streamly,
      trust: world.trust,
      events,
      ledger,
      references: 'unchecked',
      served: new Set(['spring']),
      concurrency: 4,
    });
    const outcome = await agent.once();
    expect(outcome).toEqual(round < times ? { handled: 0, failed: count } : { handled: count, failed: 0 });
    ledger.close();
  }
  expect(failures).toBe(count * times);
  expect([...sent.values()].map((bodies) => bodies.size)).toEqual(each(count, 1));
  expect(await reckon(path, asked)).toEqual({
    states: each(count, 'FULFILLED'),
    closings: each(count, 1),
    spending: DAYS.map((day) => [day, { epsilon: count / 10, delta: 0, rho: 0 }]),
  });
});

/** Starts an agent that runs until it is killed or crashes. `lines` has its log so far. */
function startAgent(ledger: string, dieBefore?: AgentJob['dieBefore']) {
  const { name, certificate, privateKeyPem, encryptionPublicKey, encryptionPrivateKey } = world.streamly;
  const job: AgentJob = {
    baseUrl: world.exchange.url,
    token: world.token,
    root: world.root.certificatePem,
    credentials: {
      name,
      certificate,
      privateKeyPem,
      encryptionPublicKey: toBase64(encryptionPublicKey),
      encryptionPrivateKey: toBase64(encryptionPrivateKey),
    },
    events: world.events,
    ledger,
    budget: BUDGET,
    ...(dieBefore && { dieBefore }),
  };
  const child = spawn(process.execPath, [script, JSON.stringify(job)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const endWithUs = () => child.kill('SIGKILL');
  process.once('exit', endWithUs);
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream).on('line', (line) => lines.push(line));
  const ended = once(child, 'exit').then(([code, signal]) => {
    process.off('exit', endWithUs);
    return code ?? signal;
  });
  const kill = () => child.kill('SIGKILL');
  /** Waits until the log has `count` lines, the log has not grown for a second, or the agent has exited. */
  const said = async (count: number) => {
    for (
      let [seen, idle] = [0, 0];
      lines.length < count && idle < 200 && child.exitCode === null && child.signalCode === null;
      await sleep(5)
    ) {
      idle = lines.length === seen && seen > 0 ? idle + 1 : 0;
      seen = lines.length;
    }
  };
  return { lines, ended, kill, said };
}

it(`${KILLS_AT_EACH} kills each between charge and scan and before fulfillment lead to one charge and one result`, async () => {
  const path = join(world.directory, 'kills.sqlite');
  const asked = [await world.ask(), await world.ask()];
  for (let kills = 0; kills < KILLS_AT_EACH; kills++) {
    expect(await startAgent(path, 'reading').ended).toBe('SIGKILL');
    expect(await answersIn(path, asked)).toEqual([]);
  }
  const stored = new Set<string>();
  const noteAnswers = async () => {
    const replies = await answersIn(path, asked);
    expect(replies.length).toBeGreaterThan(0);
    for (const ciphertext of replies) stored.add(ciphertext);
  };
  for (let kills = 0; kills < KILLS_AT_EACH; kills++) {
    const agent = startAgent(path, 'sending');
    const ended = await agent.ended;
    expect([ended, agent.lines.filter((line) => /Error|retrying/.test(line))]).toEqual(['SIGKILL', []]);
    await noteAnswers();
  }
  await finish(path, asked);
  await noteAnswers();
  expect(stored.size).toBe(asked.length);
  expect(await reckon(path, asked)).toEqual({
    states: each(2, 'FULFILLED'),
    closings: each(2, 1),
    spending: DAYS.map((day) => [day, { epsilon: 0.5, delta: 0, rho: 0 }]),
  });
}, 180_000);

// The test above kills the agent at the two points where work could be repeated. This test kills it at random points.
it.runIf(isStress)(
  `${KILLS} kills at random points leave every requisition fulfilled or refused exactly once`,
  async () => {
    const path = join(world.directory, 'random.sqlite');
    const arrivals = 4;
    const asking: Promise<Measurement>[] = [];
    for (let i = 0; i < KILLS; i++) {
      // Every fifth requisition has a filter that the agent must refuse.
      for (let n = 0; n < arrivals; n++)
        asking.push(world.ask(asking.length % 5 === 4 ? { filter: 'height > 3' } : {}));
      const agent = startAgent(path);
      // Kill the agent during its start in every fifth round. In the other rounds, wait for a number of log lines, so
      // that the kill does not depend on the machine's speed.
      if (i % 5 === 0) await sleep(randomInt(300));
      else await agent.said(1 + randomInt(16));
      await sleep(randomInt(20));
      agent.kill();
      await agent.ended;
      expect(agent.lines.filter((line) => line.includes('Error'))).toEqual([]);
      // Finish all requisitions after every fourth kill, because an agent refuses a requisition after five crashes
      // during the work on it.
      if (i % 4 === 3 && i < KILLS - 1) await finish(path, await Promise.all(asking));
    }
    const asked = await Promise.all(asking);
    await finish(path, asked);
    const { states, closings, spending } = await reckon(path, asked);
    expect(states).toEqual(asked.map((_, i) => (i % 5 === 4 ? 'REFUSED' : 'FULFILLED')));
    expect(closings).toEqual(each(KILLS * arrivals, 1));
    const fulfilled = states.filter((state) => state === 'FULFILLED').length;
    expect(spending).toEqual(DAYS.map((day) => [day, { epsilon: 0.25 * fulfilled, delta: 0, rho: 0 }]));
  },
  240_000,
);

/** Runs an agent without kills until all requisitions are closed. */
async function finish(ledger: string, asked: Measurement[]): Promise<void> {
  const agent = startAgent(ledger);
  await untilClosed(asked);
  agent.kill();
  await agent.ended;
}

async function untilClosed(asked: Measurement[]): Promise<void> {
  for (const measurement of asked) {
    for (;;) {
      const { state } = await world.acme.client.getMeasurement({ name: measurement.name! });
      if (state !== 'AWAITING_REQUISITION_FULFILLMENT') break;
      await sleep(20);
    }
  }
}
