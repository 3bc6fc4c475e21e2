/** Warns about parameters and intervals that data providers usually refuse, or that make a figure useless. */
import type { EventGroup, PlainSpec } from '@measurement-exchange/contract';
import {
  DEVELOPMENT_BUDGET,
  MEASURES,
  MINIMUM_EPSILON,
  type PrivacyAmount,
  releasesOf,
} from '@measurement-exchange/mpc/charges';
import type { ExpectedFigure } from './expected.ts';
import type { ReadRequest } from './request.ts';

export function planWarnings(
  spec: PlainSpec,
  planned: {
    figures: readonly ExpectedFigure[];
    charge: Partial<PrivacyAmount> | undefined;
    assumed: number;
  },
): string[] {
  return [...smallEpsilons(spec), ...noisyFigures(planned), ...largeCharges(planned.charge)];
}

function smallEpsilons(spec: PlainSpec): string[] {
  const small = releasesOf(spec).find(({ params }) => params.epsilon < MINIMUM_EPSILON);
  if (small === undefined) return [];
  return [
    `An epsilon of ${small.params.epsilon} is below ${MINIMUM_EPSILON}: data providers refuse it, unless they have set a ` +
      'smaller minimum.',
  ];
}

function noisyFigures({
  figures,
  assumed,
}: {
  figures: readonly ExpectedFigure[];
  assumed: number;
}): string[] {
  return figures
    .filter(({ figure, margin = 0 }) => margin >= (figure === 'frequencyShare' ? SHARE_LIMIT : assumed))
    .map(({ figure }) =>
      figure === 'frequencyShare'
        ? 'The noise of the frequencies is so large that their shares say almost nothing: choose a larger epsilon.'
        : `The noise is larger than a figure of ${assumed.toLocaleString('en-US')}: choose a larger epsilon.`,
    );
}

/** A frequency's share of people is of little use if its margin of error is at least this large, as in 30% ± 25%. */
const SHARE_LIMIT = 0.25;

function largeCharges(charge: Partial<PrivacyAmount> | undefined): string[] {
  if (charge === undefined) {
    return [
      'No noise can meet these privacy parameters: data providers refuse them. Choose a larger epsilon or delta.',
    ];
  }
  const beyond = MEASURES.filter((measure) => (charge[measure] ?? 0) > DEVELOPMENT_BUDGET[measure]);
  if (beyond.length === 0) return [];
  const amounts = beyond.map(
    (measure) => `${measure} ${charge[measure]!.toPrecision(3)} of ${DEVELOPMENT_BUDGET[measure]}`,
  );
  return [
    `This charges each day more than its whole budget usually is (${amounts.join(', ')}): data providers will probably ` +
      'refuse it. Choose a smaller epsilon.',
  ];
}

/**
 * Returns warnings about intervals that end before an event group's first recorded event, after its last recorded
 * event, or in the future. `known` contains event groups as read from the exchange. An event group that is not in
 * `known`, or that has no `dataAvailabilityInterval`, causes no warning.
 */
export function unrecorded(
  dataProviders: ReadRequest['dataProviders'],
  known: readonly EventGroup[] = [],
  now: number = Date.now(),
): string[] {
  const recorded = new Map(known.map((group) => [idOf(group.name!), group.dataAvailabilityInterval]));
  const problems = dataProviders
    .flatMap(({ selection }) => ('eventGroups' in selection ? selection.eventGroups : []))
    .map(({ name, interval }) => ({ name, problem: problemOf(interval, recorded.get(idOf(name)), now) }))
    .filter(({ problem }) => problem !== undefined);
  return [...Map.groupBy(problems, ({ problem }) => problem)].map(
    ([problem, groups]) => `${problem}: ${groups.map(({ name }) => name).join(', ')}`,
  );
}

function problemOf(
  interval: { end: string },
  recorded: EventGroup['dataAvailabilityInterval'],
  now: number,
): string | undefined {
  if (recorded === undefined) return undefined;
  const { startTime, endTime } = recorded;
  const end = Date.parse(interval.end);
  if (end <= Date.parse(startTime)) {
    return `There are events since ${startTime} only, and data providers refuse an interval that ends before`;
  }
  if (endTime !== undefined && end > Date.parse(endTime)) {
    return `There are events until ${endTime} only, and data providers defer their answer until the rest is recorded`;
  }
  return end > now
    ? `The interval ends at ${interval.end}, and data providers defer their answer until then`
    : undefined;
}

const idOf = (name: string) => name.split('/').at(-1)!;
