import type { Progress, Timeline } from '@measurement-exchange/contract';
import { type ProgressRecord, progressOfMeasurement } from '../../database/computations.ts';
import {
  type PlacedTransition,
  type TransitionRecord,
  transitionsOfMeasurement,
} from '../../database/log.ts';
import type { Page } from '../../database/page.ts';
import { partyName } from '../../domain/access.ts';
import { computationName } from '../../domain/participants.ts';
import type { Exchange, Handler } from '../context.ts';
import { START } from '../paging.ts';
import { readMeasurement } from './get.ts';

/** Returns transitions of the measurement, its requisitions, and its duchies. The first page also has progress. */
export const getMeasurementTimeline: Handler<'getMeasurementTimeline'> = async (
  exchange,
  _call,
  { params, path: name, query },
) => {
  const { db } = exchange;
  const consumer = partyName('measurementConsumer', params.measurementConsumer);
  const page = timelinePage(exchange, 'getMeasurementTimeline', name, query);
  const rows = await transitionsOfMeasurement(db, consumer, params.measurement, page.after, page.size);
  if (rows.items.length === 0) await readMeasurement(db, consumer, params.measurement);
  const resourceOf = ({ subject }: TransitionRecord) => {
    if (subject === '') return name;
    const isDuchy = subject.includes('/');
    return isDuchy ? computationName(subject, params.measurement) : `${name}/requisitions/${subject}`;
  };
  const reports = page.isFirst
    ? await progressOfMeasurement(db, consumer, params.measurement, page.size)
    : [];
  return {
    transitions: rows.items.map(({ transition }) => viewTransition(transition, resourceOf(transition))),
    progress: reports.length > 0 ? reports.map(viewProgress) : undefined,
    nextPageToken: page.nextToken(rows),
  };
};

export function timelinePage(
  { pageTokens }: Exchange,
  operation: 'getMeasurementTimeline' | 'getRequisitionTimeline',
  name: string,
  query: { pageSize?: number; pageToken?: string },
) {
  const { after, limit, next } = pageTokens.page([operation, name], query);
  const isFirst = after === START;
  const placeOf = ({ transition, place }: PlacedTransition) => ({ time: transition.time, id: String(place) });
  return {
    isFirst,
    after: isFirst ? 0n : BigInt(after.id),
    size: limit,
    nextToken: ({ items, more }: Page<PlacedTransition>) => next(more, items, placeOf),
  };
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
