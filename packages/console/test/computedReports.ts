/** Reports that packages/reports planned and corrected. The answers have real noise, and the true counts are known. */
import { drawNoise, type RandomSource } from '@measurement-exchange/mpc';
import {
  type Answer,
  correctReport,
  type Plan,
  type PlannedNeed,
  planReport,
  type Rehearsal,
  type Report,
  type ReportDefinition,
  rehearse,
  type Surroundings,
} from '@measurement-exchange/reports';

const POPULATION = 600_000;
const ATTRIBUTES = { age: ['18-34', '35-54', '55+'], sex: ['F', 'M'] };
/** The share of each age and of each sex among the people reached. */
const SHARES: Record<string, number> = {
  ...{ '18-34': 0.36, '35-54': 0.34, '55+': 0.3 },
  ...{ F: 0.54, M: 0.46 },
};
/**
 * The number of people that each combination of publishers reached. The index is a bit mask: Streamly is 1, Chirper is
 * 2, and Dailynews is 4.
 */
const PEOPLE = [0, 131_570, 76_439, 63_788, 41_422, 33_889, 19_688, 12];
const PER_PERSON = 1.5;

const SHARE_SHUFFLE = {
  protocol: 'honestMajorityShareShuffle',
  config: {
    ...{ firstWorker: 'duchies/x', secondWorker: 'duchies/y', aggregator: 'duchies/z' },
    ...{ noiseMechanism: 'DISCRETE_GAUSSIAN', ringModulus: 127 },
  },
} as never;

const surroundings: Surroundings = {
  computedBy: () => SHARE_SHUFFLE,
  population: POPULATION,
  attributes: ATTRIBUTES,
};

/** A seeded random generator: mulberry32. */
function seeded(seed: number): RandomSource {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 24;
  };
  return { bytes: (n) => Uint8Array.from({ length: n }, next) };
}

const reachIn = (people: readonly number[], union: number) =>
  people.reduce((sum, count, atom) => (atom & union ? sum + count : sum), 0);

const NAMES = ['streamly', 'chirper', 'dailynews'];

export function definition(parts: Partial<ReportDefinition> = {}): ReportDefinition {
  const all = ['all'];
  return {
    title: 'Autumn campaign, three publishers',
    interval: { start: '2026-09-07', end: '2026-10-05', timeZone: 'UTC' },
    segments: Object.fromEntries(
      NAMES.map((name) => [name, { eventGroups: [`dataProviders/${name}/eventGroups/autumn`] }]),
    ),
    sets: { all: NAMES.join(' | '), inAll: NAMES.join(' & ') },
    groups: { people: { by: ['age', 'sex'] } },
    figures: [
      { metric: 'reach', of: [...NAMES, ...all, 'inAll'] },
      { metric: 'reach', of: all, periods: 'weekly(MONDAY)', cumulative: true },
      { metric: 'frequency', of: all, maximumFrequency: 6 },
      { metric: 'reach', of: all, groups: 'people' },
    ],
    budget: { rho: 0.1, delta: 1e-9 },
    ...parts,
  };
}

export interface Computed {
  plan: Plan;
  rehearsal: Rehearsal;
  report: Report;
}

export interface Changes {
  parts?: Partial<ReportDefinition>;
  people?: readonly number[];
  /** Returns a changed answer, or undefined to remove it. */
  change?: (planned: PlannedNeed, answer: Answer) => Answer | undefined;
}

export async function computed({
  parts,
  people = PEOPLE,
  change = (_, of) => of,
}: Changes = {}): Promise<Computed> {
  const plan = await planReport(definition(parts), surroundings);
  const random = seeded(7);
  const answers = new Map<string, Answer>();
  for (const planned of plan.needs) {
    const given = change(planned, answerTo(planned, people, random));
    if (given !== undefined) answers.set(planned.key, given);
  }
  return { plan, rehearsal: rehearse(plan, surroundings), report: correctReport(plan, answers) };
}

/** Computes a report of two publishers with frequencies and impressions. */
export const capped = () => {
  const [a, b] = NAMES as [string, string];
  const { segments } = definition();
  return computed({
    parts: {
      segments: { [a]: segments[a]!, [b]: segments[b]! },
      sets: { all: `${a} | ${b}` },
      figures: [
        { metric: 'reach', of: [a, b] },
        { metric: 'frequency', of: ['all'], maximumFrequency: 6 },
        { metric: 'impressions', of: ['all'] },
      ],
    },
  });
};

/** Computes a report in which one publisher claims to have reached more people than all publishers together reached. */
export const inflated = () =>
  computed({
    change: (planned, of) =>
      planned.computed === undefined && planned.dataProviders[0] === 'dataProviders/chirper'
        ? { ...of, value: Math.round(of.value * 2.5) }
        : of,
  });

function answerTo(planned: PlannedNeed, people: readonly number[], random: RandomSource): Answer {
  const { need, params } = planned;
  const { type, maximumPerPerson = 1 } = need;
  const noise = Number(drawNoise('DISCRETE_GAUSSIAN', params, BigInt(maximumPerPerson), random));
  const methodology = {
    protocol: 'direct',
    width: 1,
    noise: { mechanism: 'DISCRETE_GAUSSIAN', params },
  } as const;
  const value = (truth: number) => Math.max(0, Math.round(truth) + noise);
  if (type === 'IMPRESSION') return { value: value(ownReach(planned, people) * PER_PERSON), methodology };
  const reached = reachIn(people, planned.union) * timeShare(need.period) * groupShare(need.group);
  if (type === 'REACH') return { value: value(reached), methodology };
  return { value: value(reached), methodology, shares: sharesOf(people, need.maximumFrequency!) };
}

/**
 * Returns the sum of the publishers' own reaches, for computing impressions. A person whom two publishers reached
 * counts twice, because each publisher counts only its own impressions.
 */
function ownReach({ dataProviders }: PlannedNeed, people: readonly number[]): number {
  return dataProviders.reduce(
    (sum, name) => sum + reachIn(people, 1 << NAMES.indexOf(name.split('/').at(-1)!)),
    0,
  );
}

/**
 * Returns the reach of this interval as a share of the final reach. The reach grows by less each week, and is complete
 * after four weeks.
 */
function timeShare({ start, end }: { start: string; end: string }): number {
  const weeks = (Date.parse(end) - Date.parse(start)) / 604_800_000;
  return (1 - 0.6 ** weeks) / (1 - 0.6 ** 4);
}

const groupShare = (group: Readonly<Record<string, string>>) =>
  Object.values(group).reduce((share, value) => share * SHARES[value]!, 1);

/** Returns a geometric distribution of frequencies. Its mean is the number of impressions per person. */
function sharesOf(people: readonly number[], length: number): number[] {
  const impressions = [1, 2].reduce((sum, of) => sum + reachIn(people, of) * PER_PERSON, 0);
  const more = 1 - reachIn(people, 3) / impressions;
  return Array.from({ length }, (_, i) => (i === length - 1 ? more ** i : more ** i * (1 - more)));
}
