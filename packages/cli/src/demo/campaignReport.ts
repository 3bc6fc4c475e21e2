/** The report at the end of the demo: the figures of several measurements, corrected so that they agree. */
import type { ReportDefinition, ReportDocument } from '@measurement-exchange/reports';
import type { Consumer } from '@measurement-exchange/sdk';
import { CAMPAIGN } from '../publishers/audience.ts';
import { shortName } from './figures.ts';
import { BUDGET, USUAL } from './privacy.ts';
import { IMPRESSION_CAP, MAXIMUM_FREQUENCY } from './scenarios.ts';

/**
 * Creates and runs the report, using only measurements that the demo has already made. Deletes the report afterwards,
 * because the demo also deletes the event groups that the report refers to.
 */
export async function reportOf(
  { reports }: Consumer,
  eventGroups: ReadonlyMap<string, string[]>,
  measurements: readonly string[],
): Promise<ReportDocument> {
  const { name } = await reports.create(definitionOf(eventGroups));
  try {
    return (await reports.run(name, { measurements })).document;
  } finally {
    await reports.delete(name);
  }
}

function definitionOf(eventGroups: ReadonlyMap<string, string[]>): ReportDefinition {
  const segments = [...eventGroups].map(([provider, names]) => [shortName(provider), { eventGroups: names }]);
  const names = segments.map(([name]) => name as string);
  const [start, end] = [CAMPAIGN.start, CAMPAIGN.end].map((time) => time.slice(0, 10)) as [string, string];
  const of = ['all', ...names];
  return {
    title: 'Acme Cola, autumn',
    interval: { start, end, timeZone: 'UTC' },
    segments: Object.fromEntries(segments),
    sets: { all: names.join(' | ') },
    figures: [
      { metric: 'frequency', of, maximumFrequency: MAXIMUM_FREQUENCY },
      { metric: 'impressions', of, maximumPerPerson: IMPRESSION_CAP },
    ],
    budget: { rho: BUDGET.rho, delta: USUAL.delta },
  };
}
