/**
 * Simulates measurements of a world (a test population, see worlds.ts). Draws the sampled people, the registers that
 * they hit, and the noise that the parties add to the answers.
 */
import { legionsNoiseShapes, type MpcNoiseMechanism } from '@measurement-exchange/contract';
import { drawMpcNoise, drawNoise, type MpcNoise, mpcNoise } from '@measurement-exchange/mpc';
import { estimate } from '@measurement-exchange/mpc/protocols/honestMajorityShareShuffle/estimate';
import {
  parametersOf,
  type ShareShuffleParameters,
} from '@measurement-exchange/mpc/protocols/honestMajorityShareShuffle/limits';
import { relativeFrequencies } from '@measurement-exchange/mpc/protocols/liquidLegionsV2/estimate';
import { estimateReach } from '@measurement-exchange/mpc/protocols/reachOnlyLiquidLegionsV2/estimate';
import { RegisterIndexes } from '@measurement-exchange/mpc/sketches/sketch';
import { type Answer, type PlannedNeed, specOf } from '../src/index.ts';
import { type Random, SKETCH } from './worlds.ts';

const DUCHIES = 3;
const WORKERS = 2;

/** The shares of people at frequencies 1, 2, 3 and 4. */
const FREQUENCY_SHARES = [0.4, 0.3, 0.2, 0.1];

/** Splits a number of people into the frequencies 1 to 4. */
export function frequenciesOf(people: number): number[] {
  let [share, before] = [0, 0];
  return FREQUENCY_SHARES.map((own) => {
    share += own;
    const until = Math.round(share * people);
    const count = until - before;
    before = until;
    return count;
  });
}

/** The number of people of each atom at each frequency. */
type Counts = number[][];

export interface Run {
  /** The people whom data providers count. A hash of each person decides whether the person is in the sample. */
  counted: Counts;
  /**
   * The people whom the share shuffle protocol counts. The protocol samples a fixed number of people from the
   * population.
   */
  shuffled: Counts;
  /**
   * The registers of a sketch. Undefined if `draw` was called without a sketch. `masks` has a bit mask for each
   * register that at least one person hits: the bits are the atoms of the people who hit the register. `alone` has the
   * number of registers that only one person hits, by that person's frequency.
   */
  sketch?: { masks: Uint32Array; alone: number[] };
}

/**
 * Caches estimates by noise, width and number of registers. An estimate takes milliseconds, and many runs need the same
 * estimates.
 */
const ESTIMATES = new Map<string, number>();

/**
 * Draws random runs of one world, and answers the needs of a plan. Values that are the same for every run are computed
 * once.
 */
export class Crowd {
  private readonly world: readonly number[];
  private readonly options: { population: number; width: number; mechanism: MpcNoiseMechanism };
  private readonly random: Random;
  private readonly indexes = new RegisterIndexes(SKETCH);
  private readonly parameters = new Map<string, ShareShuffleParameters>();
  private readonly noises = new Map<string, MpcNoise>();

  constructor(world: readonly number[], options: Crowd['options'], random: Random) {
    this.world = world;
    this.options = options;
    this.random = random;
  }

  draw(withSketch: boolean): Run {
    const { width, population } = this.options;
    const all = this.world.map(frequenciesOf);
    if (width === 1) return { counted: all, shuffled: all, ...(withSketch && { sketch: this.sketch(all) }) };
    const counted = all.map((counts) => counts.map((count) => this.some(count, () => width)));
    let [left, room] = [population, Math.round(population * width)];
    const shuffled = all.map((counts) =>
      counts.map((count) =>
        this.some(count, (isTaken) => {
          if (isTaken !== undefined) [left, room] = [left - 1, room - (isTaken ? 1 : 0)];
          return room / left;
        }),
      ),
    );
    return { counted, shuffled, ...(withSketch && { sketch: this.sketch(counted) }) };
  }

  answer(planned: PlannedNeed, run: Run): Answer {
    const { computed, need } = planned;
    const { mechanism, width } = this.options;
    const noise = { mechanism, params: planned.params };
    if (computed === undefined) {
      return { ...this.direct(planned, run.counted), methodology: { protocol: 'direct', width, noise } };
    }
    if (computed.protocol === 'honestMajorityShareShuffle') return this.shareShuffle(planned, run.shuffled);
    const { masks, alone } = run.sketch!;
    const hit = this.world.reduce((mask, _, atom) => (atom & planned.union ? mask | (1 << atom) : mask), 0);
    let registers = this.duchyNoise(planned, 'reach');
    for (const mask of masks) if (mask & hit) registers++;
    const value = this.estimated(planned, Math.max(0, registers));
    const methodology = { protocol: computed.protocol, width, noise, ...SKETCH, duchies: DUCHIES };
    if (need.type === 'REACH') return { value, methodology };
    const noisy = alone.map((count) => Math.max(0, count + this.duchyNoise(planned, 'frequency')));
    return { value, methodology, shares: sharesIn(relativeFrequencies(noisy)) };
  }

  /**
   * Selects some of `count` people at random, and returns the number of selected people. `chance` returns the
   * probability that the next person is selected. Its argument states whether the previous person was selected, and is
   * undefined for the first person.
   */
  private some(count: number, chance: (isTaken?: boolean) => number): number {
    let [taken, probability] = [0, chance()];
    for (let i = 0; i < count; i++) {
      const isTaken = this.random.next() < probability;
      if (isTaken) taken++;
      probability = chance(isTaken);
    }
    return taken;
  }

  private sketch(people: Counts): NonNullable<Run['sketch']> {
    const atoms = new Uint32Array(SKETCH.maxSize);
    // For each register, the frequency of its only person, or 0 if it is empty, or 255 if it has several people.
    const frequencies = new Uint8Array(SKETCH.maxSize);
    for (const [atom, counts] of people.entries()) {
      for (const [f, count] of counts.entries()) {
        for (let i = 0; i < count; i++) {
          const at = this.indexes.at(this.random.next());
          atoms[at]! |= 1 << atom;
          frequencies[at] = frequencies[at] === 0 ? f + 1 : 255;
        }
      }
    }
    const alone = FREQUENCY_SHARES.map(() => 0);
    for (const frequency of frequencies) if (frequency > 0 && frequency < 255) alone[frequency - 1]!++;
    return { masks: atoms.filter((mask) => mask !== 0), alone };
  }

  private direct({ params, need, union }: PlannedNeed, people: Counts): Pick<Answer, 'value' | 'shares'> {
    const { mechanism, width } = this.options;
    if (mechanism === 'NONE') throw new Error('data providers add noise');
    const noisy = (count: number) =>
      Math.max(0, count + Number(drawNoise(mechanism, params, 1n, this.random)));
    const counts = countsIn(people, union);
    const value = Math.trunc(noisy(sum(counts)) / Math.fround(width));
    if (need.type === 'REACH') return { value };
    return { value, shares: sharesIn(relativeFrequencies(counts.map(noisy))) };
  }

  private shareShuffle(planned: PlannedNeed, people: Counts): Answer {
    const { key, need, params, union, computed, dataProviders } = planned;
    const { mechanism, width, population } = this.options;
    const registerCount = Math.round(population * width);
    const parameters =
      this.parameters.get(key) ??
      parametersOf(
        specOf(need, params),
        { ...(computed!.config as object), noiseMechanism: mechanism } as never,
        {
          dataProviderCount: dataProviders.length,
          registerCount,
        },
      );
    this.parameters.set(key, parameters);
    const counts = new Float64Array(parameters.modulus);
    const found = countsIn(people, union);
    counts.set([registerCount - sum(found), ...found]);
    const { reachNoise, frequencyNoise, maximumFrequency } = parameters;
    for (let worker = 0; worker < WORKERS; worker++) {
      if (need.type === 'REACH') counts[1]! += drawMpcNoise(reachNoise, this.random);
      else
        for (let f = 0; f < maximumFrequency; f++)
          counts[f]! += drawMpcNoise(f === 0 ? reachNoise : frequencyNoise, this.random);
    }
    const noiseSeed = this.random.bytes(48);
    const { reach, relativeFrequencyDistribution } = estimate(parameters, { counts, width, noiseSeed });
    const noise = { mechanism, params };
    return {
      value: reach,
      methodology: {
        protocol: 'honestMajorityShareShuffle',
        width,
        noise,
        frequencyVectorSize: registerCount,
      },
      ...(relativeFrequencyDistribution && { shares: sharesIn(relativeFrequencyDistribution) }),
    };
  }

  private noiseOf({ key, params }: PlannedNeed, which: 'reach' | 'frequency'): MpcNoise {
    const id = `${key} ${which}`;
    const noise =
      this.noises.get(id) ?? mpcNoise(this.options.mechanism, params, legionsNoiseShapes(1, DUCHIES)[which]);
    this.noises.set(id, noise);
    return noise;
  }

  private duchyNoise(planned: PlannedNeed, which: 'reach' | 'frequency'): number {
    const noise = this.noiseOf(planned, which);
    let drawn = -DUCHIES * noise.offset;
    for (let i = 0; i < DUCHIES; i++) drawn += drawMpcNoise(noise, this.random);
    return drawn;
  }

  private estimated(planned: PlannedNeed, registers: number): number {
    const { width } = this.options;
    const reachNoise = this.noiseOf(planned, 'reach');
    const id = `${reachNoise.mechanism} ${reachNoise.variance} ${width} ${registers}`;
    const value = ESTIMATES.get(id) ?? estimateReach({ ...SKETCH, reachNoise } as never, registers, width);
    ESTIMATES.set(id, value);
    return value;
  }
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** Returns the number of people in a union at each frequency. */
function countsIn(people: Counts, union: number): number[] {
  return FREQUENCY_SHARES.map((_, f) =>
    people.reduce((total, counts, atom) => (atom & union ? total + counts[f]! : total), 0),
  );
}

function sharesIn(distribution: ReadonlyMap<number, number>): number[] {
  return FREQUENCY_SHARES.map((_, f) => distribution.get(f + 1) ?? 0);
}
