/**
 * Tests with a standby that does not respond, and a check that writes are lost if COMMITs do not wait for the standby.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createPath, type Draft, draft } from '../measurement.ts';
import type { Random } from '../random.ts';
import type { Reply } from '../world/client.ts';
import type { World } from '../world.ts';
import type { Pair } from './standby.ts';

/**
 * The time limit for a write. The exchange must end it within 10 s. Two more seconds are allowed, because the test
 * machine has only two cores.
 */
const LONGEST_MS = 12_000;
const CANARY_WRITES = 5;

/**
 * Sends a write to each exchange while the standby does not respond. Each write must end at the exchange's deadline
 * with 503 or 504. At the deadline, the exchange must close its database connection and not cancel the COMMIT. A
 * canceled COMMIT becomes visible although the standby does not have the write. When the standby is back, each write
 * must exist exactly once. Returns how long each write took to end, in milliseconds.
 */
export async function outliveDeadStandby(
  world: World,
  random: Random,
  pair: Pair,
  how: 'killed' | 'cut off',
): Promise<number[]> {
  const drafts = world.exchanges.map(() => draft(world, random));
  const times = await world.postgres.outOfReach(async () => {
    if (how === 'killed') pair.standby.kill('group');
    else await pair.replication.impose({ kind: 'blackHole' });
    const ended = await Promise.all(drafts.map((made, at) => giveUp(world, at, made, how)));
    if ((await pair.waiting()) === 0) {
      world.violations.add(
        `No COMMIT waits any more for the standby that was ${how}: something cancelled them`,
      );
    }
    const shown = await visible(world, drafts);
    if (shown > 0)
      world.violations.add(`${shown} writes show that the standby does not have (it was ${how})`);
    if (how === 'killed') await pair.standby.restart();
    else await pair.replication.clear();
    await pair.caughtUp();
    return ended;
  });
  await Promise.all(drafts.map((made, at) => insist(world, at, made)));
  const stored = await visible(world, drafts);
  if (stored !== drafts.length) {
    world.violations.add(`${drafts.length} writes, each sent until it was acknowledged, made ${stored}`);
  }
  return times;
}

/**
 * Cancels a COMMIT that waits for the standby, as an operator could do. PostgreSQL then reports success, with a warning
 * that the standby may not have the write. The exchange must not acknowledge such a write.
 */
export async function outliveCancel(world: World, random: Random, pair: Pair): Promise<void> {
  const made = draft(world, random);
  await pair.replication.impose({ kind: 'blackHole' });
  const writing = send(world, 0, made);
  // Cancel all waiting COMMITs repeatedly, until the write has ended.
  for (let ended = false; !ended; ) {
    await pair.cancelWaiting();
    ended = await Promise.race([writing.then(() => true), sleep(50, false)]);
  }
  const reply = await writing;
  if (reply.kind === 'response' && reply.status === 200) {
    world.violations.add('A write was acknowledged whose wait for the standby was cancelled');
  }
  await pair.replication.clear();
  await pair.caughtUp();
  await insist(world, 0, made);
}

/**
 * Checks that the rig can detect a loss: if COMMITs do not wait for the standby, a failover loses writes. If the rig
 * did not see this loss, the earlier failovers would prove nothing.
 */
export async function loseWithoutStandby(world: World, random: Random, pair: Pair): Promise<void> {
  await pair.desynchronize();
  await pair.replication.impose({ kind: 'down' });
  const drafts = Array.from({ length: CANARY_WRITES }, () => draft(world, random));
  for (const made of drafts) await insist(world, 0, made);
  await pair.failOver();
  const left = await visible(world, drafts);
  if (left > 0) {
    world.violations.add(
      `The canary lives: ${left} of ${CANARY_WRITES} writes survived that only the dead primary had`,
    );
  }
}

async function giveUp(world: World, at: number, made: Draft, how: string): Promise<number> {
  const started = performance.now();
  const reply = await send(world, at, made);
  const took = performance.now() - started;
  const isOpen = reply.kind === 'response' && (reply.status === 503 || reply.status === 504);
  if (!isOpen || took > LONGEST_MS) {
    const ended = reply.kind === 'response' ? `${reply.status} ${reply.reason}` : reply.why;
    world.violations.add(`With the standby ${how} a write ended after ${Math.round(took)} ms: ${ended}`);
  }
  return took;
}

async function insist(world: World, at: number, made: Draft): Promise<void> {
  for (let i = 0; i < 100; i++) {
    const reply = await send(world, at, made);
    if (reply.kind === 'response' && reply.status === 200) return;
    await sleep(50);
  }
  world.violations.add(`${createPath(made)} is not acknowledged however often it is sent`);
}

function send(world: World, at: number, made: Draft): Promise<Reply> {
  return world.call(at, made.consumer.name, 'POST', createPath(made), made.body);
}

/** Counts the measurements that these requests created. */
async function visible(world: World, drafts: Draft[]): Promise<number> {
  const ids = drafts.map(({ requestId }) => requestId);
  const rows = await world.postgres.query('SELECT FROM measurements WHERE request_id = ANY ($1)', [ids]);
  return rows.length;
}
