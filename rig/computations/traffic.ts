/** A consumer that always runs several measurements, and knows the correct result of each. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  liquidLegionsOf,
  type Measurement,
  TERMINAL_MEASUREMENT_STATES,
} from '@measurement-exchange/contract';
import type { MeasurementRequest } from '@measurement-exchange/sdk';
import type { Random } from '../random.ts';
import { INTERVAL, MAXIMUM_FREQUENCY, truthOf } from './audience.ts';
import type { Provider } from './providers.ts';
import { sketchTruthOf } from './sketches.ts';
import type { Witness } from './witness.ts';
import type { ComputationWorld } from './world.ts';

/** The number of measurements that run in parallel. */
const LANES = 4;
const POLL_MS = 200;
/**
 * The maximum duration of a measurement under kills. Each kill can make an attempt at a stage fail. The second attempt
 * comes 5 s to 10 s later, and the wait grows with each further failure.
 */
const LONGEST_MS = 10 * 60_000;
/**
 * The tolerated deviation of a noisy figure in standard deviations. A correct figure exceeds it less than once in 10^8.
 */
const SIGMAS = 6;
/** Matches the only allowed failure: a stage failed ten times. Each kill can make an attempt at a stage fail. */
const ALLOWED_FAILURE = / gave up: STAGE_FAILED/;

export class ComputationTraffic {
  succeeded = 0;
  failed = 0;
  exact = 0;
  longestMs = 0;
  private readonly world: ComputationWorld;
  private readonly providers: Provider[];
  private readonly witness: Witness;
  private readonly stopping = new AbortController();
  private readonly givingUp = new AbortController();
  private lanes: Promise<void>[] = [];

  constructor(world: ComputationWorld, providers: Provider[], witness: Witness) {
    this.world = world;
    this.providers = providers;
    this.witness = witness;
  }

  start(random: Random): void {
    this.lanes = Array.from({ length: LANES }, (_, i) => this.lane(random.fork(`lane ${i}`)));
  }

  /**
   * Starts no more measurements, and waits for the running ones. If `atOnce` is true, gives up the running ones
   * instead.
   */
  async stop({ atOnce }: { atOnce: boolean }): Promise<void> {
    this.stopping.abort();
    if (atOnce) this.givingUp.abort();
    await Promise.all(this.lanes);
  }

  private async lane(random: Random): Promise<void> {
    while (!this.stopping.signal.aborted) await this.measure(random);
  }

  private async measure(random: Random): Promise<void> {
    const { world, witness } = this;
    const leftOut = random.int(this.providers.length + 1);
    const asked = this.providers.filter((_, i) => i !== leftOut);
    const request = requestOf(asked, random);
    const started = performance.now();
    // Repeat the request after an outage. The exchange returns the same measurement each time, because the request
    // keeps its request ID.
    const created = await this.insist(() => world.consumer.create(request));
    if (created === undefined) return;
    const measurement = await this.insist(async () => {
      const read = await world.consumerClient.getMeasurement({ name: created.name! });
      return isOver(read) ? read : undefined;
    });
    if (measurement === undefined) return;
    this.longestMs = Math.max(this.longestMs, performance.now() - started);
    await this.judge(measurement, request, asked);
    await this.insist(() => witness.conclude(measurement));
  }

  /**
   * Repeats the attempt until it returns a value. Returns undefined if this takes too long, which is a violation, or if
   * the traffic gives up.
   */
  private async insist<T>(attempt: () => Promise<T | undefined>): Promise<T | undefined> {
    let problem = 'it does not end';
    for (const deadline = Date.now() + LONGEST_MS; Date.now() < deadline; await sleep(POLL_MS)) {
      if (this.givingUp.signal.aborted) return undefined;
      try {
        const done = await attempt();
        if (done !== undefined) return done;
      } catch (error) {
        problem = (error as Error).message;
      }
    }
    this.world.violations.add(`Nothing came of a measurement within ${LONGEST_MS / 1000} s: ${problem}`);
    return undefined;
  }

  private async judge(
    measurement: Measurement,
    request: MeasurementRequest,
    asked: Provider[],
  ): Promise<void> {
    const { world } = this;
    const { name, state, failure } = measurement;
    if (state !== 'SUCCEEDED') {
      this.failed++;
      if (ALLOWED_FAILURE.test(failure?.message ?? '')) return;
      world.violations.add(`${name} is ${state}: ${failure?.reason} ${failure?.message}`);
      return;
    }
    this.succeeded++;
    const audiences = asked.map(({ audience }) => audience);
    const config = measurement.protocolConfig ?? {};
    const sketch = liquidLegionsOf(config)?.config;
    const isExact = (sketch ?? config.honestMajorityShareShuffle)?.noiseMechanism === 'NONE';
    // Without noise, compare the result of a sketch protocol with the exact estimate from the sketches, which is not
    // the true count.
    const truth = isExact && sketch ? sketchTruthOf(sketch, audiences) : truthOf(audiences);
    if (isExact) this.exact++;
    const opened = await this.insist(() => world.consumer.open(measurement, { request }));
    if (opened === undefined) return;
    const { reach, frequency = [] } = opened.total.deduplicated ?? {};
    const figures = [
      { what: 'reach', figure: reach, expected: truth.reach },
      ...(request.type === 'reach'
        ? []
        : truth.shares.map((expected, i) => ({
            what: `share of frequency ${i + 1}`,
            figure: frequency[i]?.share,
            expected,
          }))),
    ];
    for (const { what, figure, expected } of figures) {
      const allowed = isExact ? 1e-9 : SIGMAS * (figure?.standardDeviation ?? 0);
      if (figure !== undefined && Math.abs(figure.value - expected) <= allowed) continue;
      world.violations.add(`${name}: ${what} is ${figure?.value}, and ${expected} in truth, ± ${allowed}`);
    }
  }
}

function requestOf(asked: Provider[], random: Random): MeasurementRequest {
  const isReach = random.chance(0.5);
  return {
    type: isReach ? 'reach' : 'reachAndFrequency',
    privacy: { epsilon: 1, delta: 1e-9 },
    ...(!isReach && { maximumFrequency: MAXIMUM_FREQUENCY }),
    dataProviders: asked.map(({ name, eventGroup }) => ({
      name,
      eventGroups: [{ name: eventGroup, interval: INTERVAL }],
    })),
    requestId: random.id(20),
  };
}

function isOver({ state }: Measurement): boolean {
  return (TERMINAL_MEASUREMENT_STATES as readonly string[]).includes(state!);
}
