import type { Explanation } from '@measurement-exchange/contract';
import { A } from '../../../parts/A.tsx';
import { Chip } from '../../../parts/Chip.tsx';
import { inWords, useNames } from '../../../parts/names.ts';
import type { Why } from './why.ts';

export function WhyCard({ why, risks, again }: { why: Why; risks: Explanation['risks']; again?: string }) {
  const { tone, icon, chip, title, text, quote, todo, lastSeen, deadline, share, code } = why;
  const nameOf = useNames();
  return (
    <section className={tone === 'run' ? 'card why' : `card why ${tone}`} aria-label="Why">
      <div className="in-card stack">
        <div className="row">
          <Chip tone={tone} icon={icon}>
            {chip}
          </Chip>
        </div>
        <h2>{title}</h2>
        <p className="soft">
          {text} {quote && <q dir="auto">{quote}</q>} {todo}
        </p>
        {share !== undefined && <Bar share={share} />}
        {risks.map(({ code, detail }) => (
          <p key={`${code} ${detail}`} className="sm warn">
            {inWords(detail, nameOf)}
          </p>
        ))}
        {again && (
          <div className="row">
            <A className="btn main" to={again}>
              Ask again
            </A>
          </div>
        )}
        {(lastSeen ?? deadline) && (
          <div className="row between xs muted">
            <span>{lastSeen}</span>
            <span>{deadline}</span>
          </div>
        )}
        <p className="xs muted mono">{code}</p>
      </div>
    </section>
  );
}

function Bar({ share }: { share: number }) {
  const percent = `${Math.floor(share * 100)}%`;
  return (
    <svg className="plot" height="10" role="img" aria-label={`${percent} done`}>
      <rect className="soft0" x="0" y="1" width="100%" height="8" rx="4" />
      <rect className="f1" x="0" y="1" width={percent} height="8" rx="4" />
    </svg>
  );
}
