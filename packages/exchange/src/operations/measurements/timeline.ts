import type { Progress, RequestOf, Timeline } from '@measurement-exchange/contract';
import { type ProgressRecord, progressOfMeasurement } from '../../database/computations.ts';
import {
  type PlacedTransition,
  type TransitionRecord,
  transitionsOfMeasurement,
} from '../../database/log.ts';
import type { Page } from '../../database/page.ts';
import { partyName } from '../../domain/access.ts';
import { computationName } from '../../domain/computation.ts';
import type { Call, Exchange } from '../context.ts';
import { DEFAULT_PAGE_SIZE, type ListScope, START } from '../paging.ts';
import { readMeasurement } from './get.ts';
import { measurementName } from './view.ts';

/** The consumer sees the measurement, all its requisitions, and the duchies that compute. */
export async function getMeasurementTimeline(
  exchange: Exchange,
  _call: Call,
  { params, query }: RequestOf<'getMeasurementTimeline'>,
): Promise<Timeline> {
  const { db } = exchange;
  const consumer = partyName('measurementConsumer', params.measurementConsumer);
  const name = measurementName({ consumer, id: params.measurement });
  const page = timelinePage(exchange, 'getMeasurementTimeline', name, query);
  const rows = await transitionsOfMeasurement(db, consumer, params.measurement, page.after, page.size);
  if (rows.items.length === 0) await readMeasurement(db, consumer, params.measurement);
  const resourceOf = ({ subject }: TransitionRecord) => {
    if (subject === '') return name;
    return isDuchy(subject)
      ? computationName(subject, params.measurement)
      : `${name}/requisitions/${subject}`;
  };
  const reports = page.isFirst
    ? await progressOfMeasurement(db, consumer, params.measurement, page.size)
    : [];
  return {
    transitions: rows.items.map(({ transition }) => viewTransition(transition, resourceOf(transition))),
    progress: reports.length > 0 ? reports.map(viewProgress) : undefined,
    nextPageToken: page.nextToken(rows),
  };
}

/** Where a page of a timeline begins and how long it is. */
export function timelinePage(
  { pageTokens }: Exchange,
  operation: 'getMeasurementTimeline' | 'getRequisitionTimeline',
  name: string,
  query: { pageSize?: number; pageToken?: string },
) {
  const scope: ListScope = [operation, name];
  const cursor = pageTokens.read(scope, query.pageToken);
  return {
    isFirst: cursor === START,
    after: cursor === START ? 0n : BigInt(cursor.id),
    size: query.pageSize ?? DEFAULT_PAGE_SIZE,
    nextToken: ({ items, more }: Page<PlacedTransition>) => {
      const last = items.at(-1);
      return more
        ? pageTokens.write(scope, { time: last!.transition.time, id: String(last!.place) })
        : undefined;
    },
  };
}

/** Whether the subject of a transition is a participant. */
function isDuchy(subject: string): boolean {
  return subject.includes('/');
}

function viewProgress({ computation: _c, ...report }: ProgressRecord): Progress {
  return report;
}

export function viewTransition(
  { measurement: _m, subject: _s, version: _v, ...transition }: TransitionRecord,
  resource: string,
): Timeline['transitions'][number] {
  return { resource, ...transition };
}
