/**
 * Prints an overview of a provider's events, and the cost of typical questions. The output is only for the provider's
 * operator, because the counts have no noise.
 */
import type {
  EventsOverview,
  Methodology,
  PrivacyAmount,
  VidOverview,
} from '@measurement-exchange/sdk/provider';
import { count } from '../terminal/numbers.ts';
import { paint, print, printTable, visible } from '../terminal/output.ts';
import { amountText, MEASURES, shareText } from './amounts.ts';
import type { Settings } from './settings.ts';

/**
 * A question with the default options of `mex measure`. The cost is charged for each day and each event group reference
 * (the provider's own ID of an event group).
 */
export interface TypicalQuestion {
  question: 'reach' | 'frequency';
  privacy: { epsilon: number; delta: number };
  cost: PrivacyAmount;
  /**
   * The share of a day's budget that this question costs. `count` is how often the question can be asked about the same
   * day until the budget is spent.
   */
  share: number;
  count: number;
}

const PRIVACY = { epsilon: 0.1, delta: 1e-9 };

export async function typicalQuestions(
  budget: PrivacyAmount,
  methodology: Methodology,
): Promise<TypicalQuestion[]> {
  const { reachCost } = await import('@measurement-exchange/sdk/provider');
  return (['reach', 'frequency'] as const).map((question) => {
    const cost = reachCost(PRIVACY, question === 'frequency' ? PRIVACY : undefined, methodology);
    const shares = MEASURES.filter((measure) => cost[measure] > 0).map((m) => cost[m] / budget[m]);
    const share = Math.max(...shares);
    return { question, privacy: PRIVACY, cost, share, count: Math.floor(1 / share + 1e-9) };
  });
}

const ROLES = {
  vid: 'person',
  timestamp: 'time',
  eventGroup: 'reference',
  duration: 'duration',
  count: 'count of events',
} as const;

export function showOverview(
  overview: EventsOverview,
  { events, population }: Pick<Settings, 'events' | 'population'>,
): void {
  const { files, rows, vids, firstDay, lastDay, columns, attributes } = overview;
  const days = firstDay === undefined ? 'no days' : `${firstDay} to ${lastDay}`;
  const place = files === undefined ? `Table ${visible(events!.source!.table)}` : `Files ${count(files)}`;
  const people = vids.map(
    ({ column, people }) => `people ${count(people)}${vids.length > 1 ? ` (${visible(column)})` : ''}`,
  );
  print(`${place}, rows ${count(rows)}, ${people.join(', ')}, ${days}\n`);
  printTable(
    ['COLUMN', 'ROLE', 'TYPE', 'EMPTY'],
    columns.map(({ name, role, type, nulls }) => [name, ROLES[role], type, count(nulls)]),
  );
  print('');
  if (attributes.length > 0) {
    printTable(
      ['ATTRIBUTE', 'TYPE', 'EMPTY', 'DIFFERENT VALUES'],
      attributes.map(({ name, type, nulls, distinct }) => [name, type, count(nulls), count(distinct)]),
    );
    print('');
  }
  for (const { role, name, nulls } of columns) {
    if (nulls === 0 || role === 'duration') continue;
    print(paint('yellow', `${count(nulls)} rows have no ${visible(name)}, and are never counted.`));
  }
  if (population !== undefined) for (const each of vids) showPopulation(each, population);
}

function showPopulation({ column, people, peopleOutside = 0 }: VidOverview, population: string): void {
  if (peopleOutside === 0)
    print(`All VIDs in the column ${visible(column)} are in the population ${population}.`);
  else {
    const part = `${count(peopleOutside)} of ${count(people)} VIDs (${shareText(peopleOutside / people)})`;
    const some = `${part} in the column ${visible(column)} are outside of the population ${population}`;
    print(paint('yellow', `${some}: questions to several providers do not count them.`));
  }
}

export function showQuestions(questions: TypicalQuestion[]): void {
  for (const { question, privacy, cost, share, count: times } of questions) {
    const asked = `A ${question} question with epsilon ${privacy.epsilon} and delta ${privacy.delta}`;
    const part = share < 0.001 ? 'less than 0.1 %' : shareText(share);
    const budget = times > 0 ? `${part} of its budget, about ${count(times)} times` : 'more than its budget';
    print(`${asked} costs ${amountText(cost)} on each day: ${budget}.`);
  }
}
