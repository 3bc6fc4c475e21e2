import type { AuditEntry } from '@measurement-exchange/contract';
import { ago, moment } from '../../../format.ts';
import { Breakable } from '../../../parts/Breakable.tsx';
import { Empty } from '../../../parts/states.tsx';
import { PartyLink } from '../PartyLink.tsx';
import { auditWords } from './words.ts';

export function AuditTimeline({ entries }: { entries: readonly AuditEntry[] }) {
  if (entries.length === 0) return <Empty title="No changes yet" />;
  return (
    <ol className="time">
      {entries.map(({ time, principal, operation, name, requestId }) => (
        <li key={`${requestId} ${operation} ${name}`}>
          <time dateTime={time} title={moment(time)}>
            {ago(time)}
          </time>
          <div>
            <b>{auditWords(operation)}</b>{' '}
            <span className="muted">
              by <PartyLink name={principal} />
            </span>
            <span className="sub mono">
              <Breakable text={name} />
            </span>
          </div>
        </li>
      ))}
    </ol>
  );
}
