/** What one party may cause at another: each bound removed. */
import type { PlantedBug } from '../plant.ts';
import { inExchange, test } from './edits.ts';

const DEFERRALS = test('exchange/test/explain/deferring.test.ts', 'ten times at most');
const TIMELINES = test('exchange/test/measurements/timelines.test.ts', 'the pages of a timeline');

export const BURDEN_BUGS: PlantedBug[] = [
  {
    name: 'every-deferral-is-told',
    edits: [
      inExchange('domain/measurement.ts', 'earlier.logged < MAX_LOGGED_DEFERRALS', 'earlier.logged < 1e6'),
    ],
    foundBy: DEFERRALS,
  },
  {
    name: 'deferrals-at-any-rate',
    edits: [inExchange('domain/measurement.ts', 'if (waitMs <= 0) return;', 'return;')],
    foundBy: DEFERRALS,
  },
  {
    // A deferral that replaces another forgets when it was made.
    name: 'deferral-time-not-kept',
    edits: [
      inExchange(
        'database/deferrals.ts',
        'deferral_time = $4',
        'deferral_time = coalesce(deferral_time, $4)',
      ),
    ],
    foundBy: DEFERRALS,
  },
  {
    name: 'timeline-in-one-page',
    edits: [
      inExchange(
        'operations/measurements/timeline.ts',
        'query.pageSize ?? DEFAULT_PAGE_SIZE',
        'Math.max(1000, query.pageSize ?? 0)',
      ),
    ],
    foundBy: TIMELINES,
  },
  {
    name: 'timeline-token-of-any-requisition',
    edits: [inExchange('operations/measurements/timeline.ts', '[operation, name]', "[operation, '']")],
    foundBy: TIMELINES,
  },
];
