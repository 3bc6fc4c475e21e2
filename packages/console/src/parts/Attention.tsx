/** The list of what needs the party's attention, for its first page. */
import type { Attention } from '@measurement-exchange/contract';
import { useQuestion } from '../companion/useOpened.ts';
import { useNow } from '../live/useNow.ts';
import { useSummary } from '../live/useSummary.ts';
import { useSession } from '../session/session.ts';
import { A } from './A.tsx';
import { attentionWords } from './attentionWords.ts';
import { moment } from './format.ts';
import { Icon } from './Icon.tsx';
import { pathOf } from './links.ts';
import { inWords, isolated, useNames } from './names.ts';
import { Loaded } from './states.tsx';

export function AttentionCard() {
  const summary = useSummary();
  return (
    <section className="card attention" aria-labelledby="attention">
      <header>
        <h2 id="attention">Needs your attention</h2>
      </header>
      <Loaded query={summary}>
        {({ attention, moreAttention }) => (
          <>
            {attention.length === 0 ? (
              <p className="in-card soft">Nothing. Everything takes its usual course.</p>
            ) : (
              <ul className="att">
                {attention.map((one) => (
                  <Item key={`${one.code} ${one.name}`} one={one} />
                ))}
              </ul>
            )}
            {moreAttention && <footer>There may be more than these.</footer>}
          </>
        )}
      </Loaded>
    </section>
  );
}

function Item({ one }: { one: Attention }) {
  const { principal, role } = useSession();
  const now = useNow(60_000);
  const nameOf = useNames();
  const isMeasurement = role === 'consumer' && one.name.includes('/measurements/');
  const { data } = useQuestion(one.name, { enabled: isMeasurement });
  const { title } = data?.question ?? {};
  const { heading, icon, tone, action } = attentionWords(one, {
    party: (name) => (name === principal ? 'you' : nameOf(name)),
    title: title && isolated(title),
    now,
  });
  const path = pathOf(one.name, role);
  return (
    <li>
      <Icon name={icon} tone={tone} />
      <div>
        <b>{heading}</b>
        <p className="sm soft" dir="auto">
          {inWords(one.detail, nameOf)} {inWords(one.remedy, nameOf)}
          {one.deadline && ` It would end on ${moment(one.deadline)}.`}
        </p>
      </div>
      <div className="acts">
        {path && (
          <A className="btn sm" to={path}>
            {action}
          </A>
        )}
      </div>
    </li>
  );
}
