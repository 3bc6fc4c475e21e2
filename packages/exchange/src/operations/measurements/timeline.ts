import type { Progress, RequestOf, Timeline } from '@measurement-exchange/contract';
import { type ProgressRecord, progressOfMeasurement } from '../../database/computations.ts';
import { type TransitionRecord, transitionsOfMeasurement } from '../../database/log.ts';
import { partyName } from '../../domain/access.ts';
import { computationName } from '../../domain/computation.ts';
import type { Call, Exchange } from '../context.ts';
import { readMeasurement } from './get.ts';
import { measurementName } from './view.ts';

/** The consumer sees the measurement, all its requisitions, and the duchies that compute. */
export async function getMeasurementTimeline(
  exchange: Exchange,
  _call: Call,
  { params }: RequestOf<'getMeasurementTimeline'>,
): Promise<Timeline> {
  const consumer = partyName('measurementConsumer', params.measurementConsumer);
  const rows = await transitionsOfMeasurement(exchange.db, consumer, params.measurement);
  if (rows.length === 0) await readMeasurement(exchange.db, consumer, params.measurement);
  const name = measurementName({ consumer, id: params.measurement });
  const resourceOf = ({ subject }: TransitionRecord) => {
    if (subject === '') return name;
    return isDuchy(subject)
      ? computationName(subject, params.measurement)
      : `${name}/requisitions/${subject}`;
  };
  return {
    transitions: rows.map((row) => viewTransition(row, resourceOf(row))),
    progress: rows.some(({ subject }) => isDuchy(subject))
      ? (await progressOfMeasurement(exchange.db, consumer, params.measurement)).map(viewProgress)
      : undefined,
  };
}

/** Of the subject of a transition: a participant. */
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
