/** Shows the timeline of a measurement. The tab `Problems` shows only the problems, and has its own address. */
import type { Requisition, Timeline } from '@measurement-exchange/contract';
import { useSearch } from '@tanstack/react-router';
import { moment as timeOf } from '../../../format.ts';
import { useNames } from '../../../parts/names.ts';
import { Segment } from '../../../parts/Segment.tsx';
import { type Moment, momentsOf, problemsOf } from './timeline.ts';

const CLASSES: Record<Moment['tone'], string | undefined> = { done: undefined, bad: 'bad', wait: 'wait' };

export function TimelineCard({
  id,
  timeline,
  requisitions,
}: {
  id: string;
  timeline: Timeline;
  requisitions: readonly Requisition[];
}) {
  const nameOf = useNames();
  const { timeline: view } = useSearch({ strict: false }) as { timeline?: string };
  const moments = momentsOf(timeline, requisitions, nameOf);
  const problems = problemsOf(moments);
  const isProblems = view === 'problems';
  const shown = isProblems ? problems : moments;
  const address = `/measurements/${id}`;
  return (
    <section className="card">
      <header>
        <h2>Timeline</h2>
        <Segment
          label="Show"
          options={[
            { to: address, text: 'All', current: !isProblems },
            { to: `${address}?timeline=problems`, text: `Problems ${problems.length}`, current: isProblems },
          ]}
        />
      </header>
      <div className="in-card">
        {shown.length === 0 && <p className="soft sm">No problems.</p>}
        <ol className="time">
          {shown.map(({ time, tone, who, text, detail }) => (
            <li key={`${time} ${who} ${text}`} className={CLASSES[tone]}>
              <time dateTime={time} title={timeOf(time)}>
                {time.slice(11, 19)}
              </time>
              <div>
                {who && <b>{who}</b>} {text}
                {detail && <span className="sub">{detail}</span>}
              </div>
            </li>
          ))}
        </ol>
      </div>
    </section>
  );
}
