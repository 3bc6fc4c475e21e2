/** Kills processes with kill -9, at a random moment or when a computation has reached a certain stage. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../random.ts';
import { Coverage, type Kind } from './coverage.ts';
import type { Duchy, DuchyProcess } from './duchy.ts';
import type { Place } from './places.ts';
import type { ComputationWorld } from './world.ts';

/** The maximum pause after a recovery. After the pause, the next kill happens at once or waits for its target. */
const MOMENT_MS = 800;
/** The maximum wait for a computation at the target stage. Every stage is normally reached within this time. */
const AIM_MS = 30_000;
/** The maximum wait until another duchy has stored a message for the duchy that is down. */
const OWED_MS = 30_000;
/**
 * The poll interval while looking for a target. It is short, because a stage may last only some hundredths of a second.
 */
const LOOK_MS = 10;

/** A computation that has reached the stage of the next kill. */
interface Target {
  id: string;
  duchy: Duchy;
  /** The lease owner: the mill that works on the computation. */
  owner: string | null;
}

export class Kills {
  readonly coverage: Coverage;
  /** Milliseconds from each kill until all processes run again. */
  readonly recoveries: number[] = [];
  private readonly world: ComputationWorld;
  private readonly random: Random;
  private isExact = true;

  constructor(world: ComputationWorld, random: Random) {
    this.world = world;
    this.random = random;
    this.coverage = new Coverage(world.family.places);
  }

  /** Kills the process or processes that `kind` stands for, and resolves when all of them run again. */
  async kill(kind: Kind, { isAimed }: { isAimed: boolean }): Promise<void> {
    const { random, coverage } = this;
    await sleep(random.int(MOMENT_MS));
    const place = isAimed ? coverage.next(kind, random) : undefined;
    const target = place && (await this.find(place));
    const duchy = target?.duchy ?? random.pick(this.world.duchies);
    const started = performance.now();
    const restart = this.strike(kind, duchy, target);
    const stage = target && (await this.stageOf(target));
    await restart();
    this.recoveries.push(performance.now() - started);
    const at = target && { role: duchy.role, stage: stage ?? (await this.stageOf(target)) ?? '' };
    coverage.add(kind, at);
  }

  /** Kills immediately. The returned function starts the killed processes again. */
  private strike(kind: Kind, duchy: Duchy, target: Target | undefined): () => Promise<void> {
    const { world, random } = this;
    switch (kind) {
      case 'exchange': {
        const [exchange] = world.exchanges;
        const dying = exchange!.kill('SIGKILL');
        world.tally.exchangeKills++;
        this.isExact = !this.isExact;
        exchange!.configure(world.family.protocolsWith(this.isExact ? 'NONE' : 'DISCRETE_GAUSSIAN'));
        return () => dying.then(() => exchange!.start());
      }
      case 'postmaster':
      case 'backend':
        world.postgres.kill(kind, (pids) => random.pick(pids));
        world.tally.postgresKills++;
        return () => world.postgres.restart();
      case 'face': {
        const restart = this.restarting([duchy.face]);
        // Every other time, keep the HTTP server down until another duchy has a message for it, so that the sender must
        // retry.
        const isLong = this.coverage.killed('face') % 2 === 0;
        return () => (isLong ? this.untilOwed(duchy) : Promise.resolve()).then(restart);
      }
      case 'mill':
        return this.restarting([millOf(duchy, target) ?? random.pick(duchy.mills)]);
      case 'duchy':
        return this.restarting(duchy.processes);
    }
  }

  private restarting(victims: DuchyProcess[]): () => Promise<void> {
    const dying = Promise.all(victims.map((victim) => victim.kill()));
    this.world.tally.duchyKills += victims.length;
    return async () => {
      await dying;
      await Promise.all(victims.map((victim) => victim.start()));
    };
  }

  /**
   * Waits until another duchy has stored a message for this duchy, but at most OWED_MS. The message cannot be
   * delivered, because this duchy's HTTP server is down.
   */
  private async untilOwed({ name }: Duchy): Promise<void> {
    const others = this.world.duchies.filter((each) => each.name !== name);
    for (const deadline = Date.now() + OWED_MS; Date.now() < deadline; await sleep(100)) {
      for (const other of others) {
        const owed = other.query(
          `SELECT 1 FROM messages m JOIN computations c ON c.id = computation
            WHERE direction = 'OUT' AND peer = $1 AND acknowledged_time IS NULL AND outcome IS NULL`,
          [name],
        );
        if ((await owed.catch(() => [])).length > 0) return;
      }
    }
  }

  /** Waits for a computation at this stage. Returns undefined if none comes in time. */
  private async find({ role, stage, isWork }: Place): Promise<Target | undefined> {
    const duchies = this.world.duchies.filter((each) => each.role === role);
    for (const deadline = Date.now() + AIM_MS; Date.now() < deadline; await sleep(LOOK_MS)) {
      const duchy = this.random.pick(duchies);
      const [found] = await duchy
        .query(
          `SELECT id, lease_owner AS owner FROM computations
            WHERE stage = $1 AND outcome IS NULL AND (lease_token IS NOT NULL OR NOT $2) ORDER BY random() LIMIT 1`,
          [stage, isWork],
        )
        .catch(() => []);
      if (found !== undefined) return { id: found.id, owner: found.owner, duchy };
    }
    return undefined;
  }

  /** Returns the stage of the target, or undefined while the duchy's database does not respond. */
  private async stageOf({ id, duchy }: Target): Promise<string | undefined> {
    if (this.world.postgres.isDown) return undefined;
    const rows = await duchy.query('SELECT stage FROM computations WHERE id = $1', [id]).catch(() => []);
    return rows[0]?.stage;
  }
}

/** Returns the process that holds the lease. The text `owner` ends with the process ID and the number of the mill. */
function millOf({ mills }: Duchy, target: Target | undefined): DuchyProcess | undefined {
  const pid = /(\d+) mill \d+$/.exec(target?.owner ?? '')?.[1];
  return mills.find((mill) => String(mill.pid) === pid);
}
