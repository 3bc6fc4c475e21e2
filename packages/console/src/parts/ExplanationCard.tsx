/**
 * Explains why a resource waits or how it ended. Shows the advice, the risks, the time when the awaited party last
 * called the exchange, the deadline, and the code.
 */
import type { Ending, Explanation, Wait } from '@measurement-exchange/contract';
import type { ReactNode } from 'react';
import { ago, moment } from '../format.ts';
import { Chip, type ChipTone } from './Chip.tsx';
import type { IconName } from './Icon.tsx';
import { capital, inWords, useNames } from './names.ts';

export function ExplanationCard({
  explanation,
  title,
  remedy,
  children,
}: {
  explanation: Explanation;
  title: string;
  /** Replaces the exchange's advice, if the page has better advice. */
  remedy?: string | undefined;
  children?: ReactNode;
}) {
  const { waitingFor, ending, risks, nextDeadline, since } = explanation;
  const [tone, icon, word] = lookOf(explanation);
  const nameOf = useNames();
  const reason: Wait | Ending | undefined = waitingFor[0] ?? ending;
  return (
    <section className={`card why ${tone ?? ''}`} aria-label="Why">
      <div className="in-card stack">
        <div className="row">
          <Chip tone={tone} icon={icon}>
            {word}
          </Chip>
          <span className="xs muted">since {moment(since)}</span>
        </div>
        <h2>{title}</h2>
        {reason && (
          <p className="soft" dir="auto">
            {remedy ?? inWords(reason.remedy, nameOf)}
          </p>
        )}
        {risks.map(({ code, detail }) => (
          <p key={`${code} ${detail}`} className="sm warn" dir="auto">
            {inWords(detail, nameOf)}
          </p>
        ))}
        {children && <div className="row">{children}</div>}
        {reason && (
          <div className="row between xs muted">
            <span>
              {'party' in reason &&
                (reason.lastSeen
                  ? `${capital(nameOf(reason.party))} last called the exchange ${ago(reason.lastSeen)}`
                  : `${capital(nameOf(reason.party))} never called the exchange`)}
            </span>
            <span>{nextDeadline && `Ends without a result on ${moment(nextDeadline)}`}</span>
            <code title={reason.detail}>{reason.code}</code>
          </div>
        )}
      </div>
    </section>
  );
}

const GOOD: readonly string[] = ['SUCCEEDED', 'FULFILLED'];
const NEUTRAL: readonly string[] = ['CANCELLED', 'WITHDRAWN', 'REMOVED'];
const CALM: readonly string[] = ['STAGE_RUNNING', 'ASKED', 'PARAMETERS_MISSING', 'CONFIRMATION_MISSING'];

function lookOf({ waitingFor, ending }: Explanation): [ChipTone, IconName, string] {
  if (ending !== undefined) {
    if (GOOD.includes(ending.code)) return ['ok', 'check', 'Done'];
    return NEUTRAL.includes(ending.code) ? [undefined, 'minus', 'Ended'] : ['bad', 'x', 'Failed'];
  }
  if (CALM.includes(waitingFor[0]?.code ?? '')) return ['run', 'run', 'Under way'];
  return ['warn', 'clock', 'Waits'];
}
