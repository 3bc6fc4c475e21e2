import { moment } from '../../../format.ts';
import { ErrorNote } from '../../../parts/states.tsx';
import type { MeasurementList } from './useMeasurementList.ts';

/** A warning above a list of measurements that may be out of date, because reading the list again failed. */
export function Stale({ error, list }: { error: Error; list: MeasurementList }) {
  return (
    <div className="stack tight">
      <p className="sm warn">What you see is from {moment(new Date(list.readAt))} and may be out of date.</p>
      <ErrorNote error={error} retry={list.readAgain} />
    </div>
  );
}
