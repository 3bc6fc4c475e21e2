/**
 * Reads the databases continuously. Rows that a duchy stored must never change, and the parties must agree: every
 * upload that the exchange knows of is stored, every received message was stored by its sender first, and every
 * acknowledged message is stored by its receiver.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fromBinary } from '@bufbuild/protobuf';
import { equalBytes, type Measurement, specs, stepsOf } from '@measurement-exchange/contract';
import { examineDuchy } from '@measurement-exchange/duchy';
import { readBlob } from '@measurement-exchange/duchy/internal/database/index';
import type { Context } from '../harness.ts';
import type { Duchy } from './duchy.ts';
import {
  type DuchyFacts,
  duchyFacts,
  type FulfilledFact,
  fulfilledFacts,
  type StoredFact,
  storedOf,
} from './facts.ts';
import type { ComputationWorld } from './world.ts';

const PAUSE_MS = 500;
/**
 * If more time passes between two looks at the databases, the machine was stalled, because its disk or processors were
 * busy.
 */
const STALL_MS = 5_000;
/**
 * The maximum time until a mill takes over the work of an expired lease. A mill whose database was down for a long time
 * sometimes waits for half a minute before it looks for work again.
 */
const TAKEN_WITHIN_MS = 35_000;
/** If this many looks in a row fail although PostgreSQL was not killed, the failures are a violation. */
const MAX_FAILURES = 20;

interface Look {
  fulfilled: FulfilledFact[];
  facts: Map<Duchy, DuchyFacts>;
}

export class Witness {
  looks = 0;
  /** The number of rows that were compared after the end of their computation. */
  compared = 0;
  private readonly world: ComputationWorld;
  private readonly context: Context;
  private readonly stopping = new AbortController();
  private looping: Promise<void> = Promise.resolve();
  private before: Look | undefined;
  /** The number of crashes of PostgreSQL so far, and the time when the last crash was seen. */
  private crashes = { count: 0, time: 0 };
  /**
   * The end of the last look that came more than STALL_MS after the look before it. Until then, the whole machine was
   * stalled, so mills could not work.
   */
  private stallTime = 0;
  private lookTime = performance.now();
  /** Digests of stored rows, by duchy and row. */
  private readonly seen = new Map<string, { computation: string; bytes: string }>();
  private readonly concluded: string[] = [];

  constructor(world: ComputationWorld, context: Context) {
    this.world = world;
    this.context = context;
  }

  start(): void {
    this.looping = this.loop();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.looping;
  }

  private async loop(): Promise<void> {
    const { signal } = this.stopping;
    let failures = 0;
    while (!signal.aborted) {
      const { crashes } = this.world.postgres;
      try {
        await this.look();
        failures = 0;
      } catch (error) {
        // Ignore errors while the server is down or starting, because the databases cannot be read then.
        const isDisturbed = crashes !== this.world.postgres.crashes || this.world.postgres.isDown;
        failures = isDisturbed ? 0 : failures + 1;
        if (failures === MAX_FAILURES) {
          this.world.violations.add(`The databases cannot be read: ${(error as Error).message}`);
        }
      }
      await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
    }
  }

  private async look(): Promise<void> {
    const { postgres, duchies } = this.world;
    const except = [...this.concluded];
    // Read the exchange's rows first. Uploads that they mention must already be stored when the duchies' rows are read.
    const fulfilled = await fulfilledFacts(postgres, except);
    const read = await Promise.all(
      duchies.map(async (duchy) => [duchy, await duchyFacts(duchy, except)] as const),
    );
    const look = { fulfilled, facts: new Map(read) };
    if (postgres.crashes !== this.crashes.count) {
      this.crashes = { count: postgres.crashes, time: performance.now() };
    }
    if (sinceMs(this.lookTime) > STALL_MS) this.stallTime = performance.now();
    this.lookTime = performance.now();
    const quietMs = Math.min(sinceMs(this.crashes.time), sinceMs(this.stallTime));
    for (const [duchy, { stored, computations }] of look.facts) {
      for (const fact of stored) this.requireUnchanged(duchy, fact);
      // How long the longest-running mill of this duchy has been ready.
      const millMs = Math.max(...duchy.mills.map(({ readySince }) => sinceMs(readySince)));
      const couldTakeForMs = Math.min(quietMs, millMs);
      for (const { id, isTooLong, abandonedMs } of computations) {
        if (isTooLong) this.blame(id, `the lease at ${duchy.name} is longer than its term`);
        if (Math.min(abandonedMs, couldTakeForMs) > TAKEN_WITHIN_MS)
          this.blame(id, `the lease at ${duchy.name} ended, and nobody takes the stage`);
      }
    }
    this.requireUploads(fulfilled, look.facts);
    // All duchies are read at about the same time, but not atomically. Therefore, check only that each message of the
    // previous look has its counterpart in this look.
    if (this.before !== undefined) this.requireCounterparts(this.before.facts, look.facts);
    this.before = look;
    this.looks++;
  }

  private requireUnchanged(duchy: Duchy, fact: StoredFact): void {
    const { computation, kind, what, peer, bytes } = fact;
    const key = [duchy.name, kind, what, peer, computation].join(' ');
    const first = this.seen.get(key);
    if (first === undefined) this.seen.set(key, { computation, bytes });
    else if (first.bytes !== bytes) this.blame(computation, `${key} changed after it was stored`);
  }

  private requireUploads(fulfilled: FulfilledFact[], facts: Map<Duchy, DuchyFacts>): void {
    for (const { computation, requisition, duchy } of fulfilled) {
      const isThere = [...facts].some(
        ([{ name }, { stored }]) =>
          name === duchy && stored.some(({ kind, what }) => kind === 'upload' && what === requisition),
      );
      if (!isThere && !this.concluded.includes(computation)) {
        this.world.tally.lostAcknowledgements++;
        this.blame(computation, `${requisition} is FULFILLED, and its upload is not at ${duchy}`);
      }
    }
  }

  /**
   * Checks the messages found in the previous look. If a duchy has received a message, the sender must have stored it
   * too. If a message has been acknowledged, the receiver must have stored it too.
   */
  private requireCounterparts(before: Map<Duchy, DuchyFacts>, now: Map<Duchy, DuchyFacts>): void {
    const isStored = (at: string, kind: string, peer: string, { computation, what, content }: StoredFact) =>
      [...now].some(
        ([{ name }, { stored }]) =>
          name === at &&
          stored.some(
            (other) =>
              other.kind === kind &&
              other.computation === computation &&
              other.what === what &&
              other.peer === peer &&
              other.content === content,
          ),
      );
    for (const [{ name }, { stored }] of before) {
      for (const fact of stored) {
        const { kind, what, peer, acknowledged, computation } = fact;
        if (this.concluded.includes(computation)) continue;
        if (kind === 'IN' && !isStored(peer, 'OUT', name, fact))
          this.blame(computation, `${name} has ${what}, and ${peer} has not stored what it sent`);
        if (kind === 'OUT' && acknowledged && peer !== 'exchange' && !isStored(peer, 'IN', name, fact))
          this.blame(computation, `${peer} acknowledged ${what} of ${name}, and does not have it`);
      }
    }
  }

  /** Compares all rows of a measurement that has ended. Returns undefined until every duchy knows that it has ended. */
  async conclude(measurement: Measurement): Promise<true | undefined> {
    const { duchies } = this.world;
    const id = measurement.name!.split('/').at(-1)!;
    const outcomes = await Promise.all(
      duchies.map(async (duchy) => {
        const [row] = await duchy.query('SELECT outcome FROM computations WHERE id = $1', [id]);
        return row === undefined ? undefined : { duchy, outcome: row.outcome };
      }),
    );
    const known = outcomes.filter((outcome) => outcome !== undefined);
    if (known.some(({ outcome }) => outcome === null)) return undefined;
    for (const { duchy, outcome } of known) {
      if (outcome !== measurement.state)
        this.blame(id, `${outcome} at ${duchy.name}, and ${measurement.state}`);
    }
    const facts = new Map<Duchy, DuchyFacts>();
    for (const { duchy } of known) facts.set(duchy, { stored: await storedOf(duchy, id), computations: [] });
    for (const [duchy, { stored }] of facts) for (const fact of stored) this.requireUnchanged(duchy, fact);
    this.requireNothingLost(id, facts);
    this.requireCounterparts(facts, facts);
    if (measurement.state === 'SUCCEEDED') await this.requireOneResult(id, measurement, facts);
    for (const { duchy } of known) await this.requireDigests(duchy, id);
    this.concluded.push(id);
    for (const [key, { computation }] of this.seen) if (computation === id) this.seen.delete(key);
    return true;
  }

  /** Checks that all rows still exist, except secrets, which are deleted when the computation ends. */
  private requireNothingLost(id: string, facts: Map<Duchy, DuchyFacts>): void {
    const stored = new Set(
      [...facts].flatMap(([{ name }, rows]) =>
        rows.stored.map(({ kind, what, peer }) => [name, kind, what, peer, id].join(' ')),
      ),
    );
    this.compared += stored.size;
    for (const [key, { computation }] of this.seen) {
      if (computation === id && !stored.has(key) && !/^\S+ secret /.test(key))
        this.blame(id, `${key} is lost`);
    }
  }

  /**
   * Checks that each duchy stored one output for each of its steps in the protocol, and that the result equals the one
   * that the aggregator stored.
   */
  private async requireOneResult(
    id: string,
    { results = [], protocolConfig }: Measurement,
    facts: Map<Duchy, DuchyFacts>,
  ): Promise<void> {
    const steps = stepsOf(protocolConfig!);
    for (const [{ name }, { stored }] of facts) {
      const outputs = stored.filter(({ kind }) => kind === 'OUT').length;
      const expected = steps.filter(({ duchy }) => duchy === name).length;
      if (outputs !== expected)
        this.blame(id, `SUCCEEDED with ${outputs} outputs of ${name}, not ${expected}`);
    }
    const aggregator = this.world.duchies.find(({ role }) => role === 'AGGREGATOR')!;
    const [row] = await aggregator.query(
      `SELECT blob FROM messages WHERE computation = $1 AND direction = 'OUT' AND stage = 'RESULT'`,
      [id],
    );
    if (row === undefined || results.length !== 1)
      return this.blame(id, `SUCCEEDED with ${results.length} results`);
    const stored = Buffer.concat(await Array.fromAsync(readBlob(aggregator.db, row.blob)));
    const { ciphertext } = fromBinary(specs.EncryptedMessageSchema, stored);
    if (!equalBytes(ciphertext, results[0]!.encryptedResult.ciphertext))
      this.blame(id, 'the result is not the one that the aggregator stored');
  }

  private async requireDigests(duchy: Duchy, id: string): Promise<void> {
    const blobs = await duchy.query(
      'SELECT id, sha256 FROM blobs WHERE computation = $1 AND complete_time IS NOT NULL',
      [id],
    );
    for (const { id: blob, sha256 } of blobs) {
      const hash = createHash('sha256');
      for await (const chunk of readBlob(duchy.db, blob)) hash.update(chunk);
      if (!equalBytes(hash.digest(), sha256)) this.blame(id, `blob ${blob} at ${duchy.name} has other bytes`);
    }
  }

  /**
   * Runs the doctor on the duchies' databases. It must find no errors. If `hasEnded` is true, it must find no warnings
   * either.
   */
  async examine({ hasEnded }: { hasEnded: boolean }): Promise<void> {
    for (const duchy of this.world.duchies) {
      const owner = { duchy: duchy.name, secretsKey: await duchy.secretsKey() };
      const ailments = await examineDuchy(duchy.connection, owner);
      for (const { check, severity, examples } of ailments) {
        if (severity === 'error' || hasEnded)
          this.world.violations.add(`doctor of ${duchy.name}: ${check}: ${examples.join(', ')}`);
      }
    }
  }

  private blame(id: string, what: string): void {
    this.world.violations.add(`computation ${id}: ${what}`);
    void this.save(id);
  }

  private async save(id: string): Promise<void> {
    const rows: Record<string, unknown> = {};
    for (const duchy of this.world.duchies) {
      const of = (text: string) => duchy.query(text, [id]).catch(String);
      rows[duchy.name] = {
        computation: await of(
          'SELECT role, stage, attempt, run_after, lease_until, lease_owner, last_error, outcome, failure FROM computations WHERE id = $1',
        ),
        messages: await of(
          'SELECT stage, direction, peer, blob, create_time, acknowledged_time FROM messages WHERE computation = $1',
        ),
        uploads: await of(
          'SELECT requisition, blob, create_time, reported_time FROM uploads WHERE computation = $1',
        ),
      };
    }
    this.context.save(`computation-${id}.json`, rows);
  }
}

function sinceMs(time: number | undefined): number {
  return time === undefined ? 0 : performance.now() - time;
}
