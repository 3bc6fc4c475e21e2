/** Why something waits, or how it ended: who, since when, until when, and what to do. The code comes last. */
import type { Explanation } from '@measurement-exchange/contract';
import type { ReactNode } from 'react';
import { idOf } from '../session/roles.ts';
import { Chip, type ChipTone } from './Chip.tsx';
import { ago, moment } from './format.ts';
import type { IconName } from './Icon.tsx';

export function ExplanationCard({
  explanation,
  children,
}: {
  explanation: Explanation;
  children?: ReactNode;
}) {
  const { waitingFor, ending, risks, nextDeadline, since, summary } = explanation;
  const [tone, icon, word] = lookOf(explanation);
  return (
    <section className={`card why ${tone ?? ''}`} aria-label="Why">
      <div className="in-card stack">
        <div className="row">
          <Chip tone={tone} icon={icon}>
            {word}
          </Chip>
          <span className="xs muted">since {moment(since)}</span>
        </div>
        <h2>
          <bdi>{waitingFor[0]?.detail ?? ending?.detail ?? summary}</bdi>
        </h2>
        {[...waitingFor, ...(ending ? [ending] : [])].map(({ code, remedy, ...rest }, i) => (
          <div key={`${code} ${'party' in rest ? rest.party : ''}`} className="stack tight">
            {i > 0 && <p>{rest.detail}</p>}
            <p className="soft">
              <bdi>{remedy}</bdi>
            </p>
            <p className="xs muted">
              {'party' in rest && (
                <>
                  <bdi>{idOf(rest.party)}</bdi>{' '}
                  {rest.lastSeen ? `was seen ${ago(rest.lastSeen)}` : 'was never seen'} ·{' '}
                </>
              )}
              <code>{code}</code>
            </p>
          </div>
        ))}
        {risks.map(({ code, detail, at }) => (
          <p key={code} className="sm warn">
            <bdi>{detail}</bdi> <span className="xs">{moment(at)}</span>
          </p>
        ))}
        {nextDeadline && <p className="sm soft">It ends on {moment(nextDeadline)} unless that has come.</p>}
        {children && <div className="row">{children}</div>}
      </div>
    </section>
  );
}

const GOOD: readonly string[] = ['SUCCEEDED', 'FULFILLED'];

function lookOf({ waitingFor, ending }: Explanation): [ChipTone, IconName, string] {
  if (ending !== undefined) {
    if (GOOD.includes(ending.code)) return ['ok', 'check', 'Done'];
    return ending.code === 'CANCELLED' || ending.code === 'WITHDRAWN' || ending.code === 'REMOVED'
      ? [undefined, 'minus', 'Ended']
      : ['bad', 'x', 'Failed'];
  }
  const code = waitingFor[0]?.code;
  if (code === 'STAGE_RUNNING' || code === 'ASKED') return ['run', 'run', 'Under way'];
  return ['warn', 'clock', 'Waits'];
}
