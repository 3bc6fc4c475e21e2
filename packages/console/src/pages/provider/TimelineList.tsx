/** Shows the timeline of a resource, oldest entry first. */
import type { Timeline } from '@measurement-exchange/contract';
import { day, moment } from '../../format.ts';
import { partyName } from '../../parts/names.ts';

export function TimelineList({ transitions }: { transitions: Timeline['transitions'] }) {
  const last = transitions.length - 1;
  return (
    <ol className="time">
      {transitions.map(({ time, from, to, actor, cause, requestId, findings = [] }, i) => (
        <li
          key={`${time} ${to} ${cause}`}
          className={BAD.has(to) ? 'bad' : i === last && !ENDED.has(to) ? 'now' : ''}
        >
          <time dateTime={time} title={moment(time)}>
            {day(time)} {new Date(time).toISOString().slice(11, 19)}
          </time>
          <div>
            <b>{CAUSES[cause] ?? wordsOf(cause)}</b>
            <span className="sub">
              {from !== undefined && from !== to && `${stateOf(from)} → ${stateOf(to)}, `}by{' '}
              <bdi>{partyName(actor)}</bdi> · <code>{requestId}</code>
            </span>
            {findings.map(({ code, message }) => (
              <span key={code} className="sub warn">
                <bdi>{message}</bdi>
              </span>
            ))}
          </div>
        </li>
      ))}
    </ol>
  );
}

const BAD: ReadonlySet<string> = new Set(['FAILED', 'REFUSED']);
const ENDED: ReadonlySet<string> = new Set(['SUCCEEDED', 'FULFILLED', 'WITHDRAWN', 'CANCELLED', ...BAD]);

const CAUSES: Record<string, string> = {
  created: 'Asked',
  fulfilled: 'Answered',
  parametersSet: 'The duchies are ready',
};

const STATES: Record<string, string> = { UNFULFILLED: 'open', FULFILLED: 'answered' };
const stateOf = (state: string) => STATES[state] ?? wordsOf(state).toLowerCase();

/** Converts `REQUISITION_REFUSED` or `requisitionRefused` to `Requisition refused`. */
function wordsOf(code: string): string {
  const words = code
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
