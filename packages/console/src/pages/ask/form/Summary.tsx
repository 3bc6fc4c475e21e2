/** The end of the form: the question in a sentence, its cost, the checks, and the button that sends it. */

import { ago, percent } from '../../../format.ts';
import { useNow } from '../../../live/useNow.ts';
import { Icon } from '../../../parts/Icon.tsx';
import { inWords, useNames } from '../../../parts/names.ts';
import { PublisherTag } from '../../../parts/Publisher.tsx';
import { ErrorNote } from '../../../parts/states.tsx';
import { blockOf, type Check, checksOf, publisherCount } from './checks.ts';
import { Sentence } from './Sentence.tsx';
import { GoTo } from './Step.tsx';
import type { Ask } from './useAsk.ts';
import { useSend } from './useSend.ts';

export function Summary({ ask }: { ask: Ask }) {
  const checks = checksOf(ask);
  return (
    <div className="sticky stack">
      <section className="card" aria-labelledby="ask-summary">
        <header>
          <h2 id="ask-summary">Your question</h2>
        </header>
        <div className="in-card stack">
          <Sentence ask={ask} />
          <Charges ask={ask} />
          <hr />
          <h3>Before you send</h3>
          <ul className="checks">
            {checks.map((check) => (
              <CheckRow key={`${check.title} ${check.detail}`} check={check} />
            ))}
          </ul>
          {ask.planned.error && ask.request && (
            <button type="button" className="btn sm" onClick={ask.planned.retry}>
              Check again
            </button>
          )}
          <Send ask={ask} block={blockOf(ask, checks)} />
        </div>
      </section>
    </div>
  );
}

/** Shows one check. Replaces resource names in its text with display names. */
function CheckRow({ check: { tone, title, detail = '', at } }: { check: Check }) {
  const nameOf = useNames();
  const icon = { ok: 'check', warn: 'warn', bad: 'x' } as const;
  return (
    <li>
      {tone === 'ok' ? <Icon name="check" /> : <Icon name={icon[tone]} tone={tone} />}
      <span>
        <b>{inWords(title, nameOf)}</b>
        <span className="sub">
          {inWords(detail, nameOf)} {at && tone !== 'ok' && <GoTo id={at}>Go there</GoTo>}
        </span>
      </span>
    </li>
  );
}

/** Shows the share of a usual daily budget that the question costs at each publisher. */
function Charges({ ask: { planned } }: { ask: Ask }) {
  const charged = planned.plan?.dataProviders.filter(({ days }) => days > 0) ?? [];
  if (charged.length === 0) return null;
  return (
    <div className={planned.isCurrent ? 'stack tight' : 'stack tight stale'}>
      <hr />
      <h3>Charge to each day's budget</h3>
      {charged.map(({ name, days, ofUsualBudget: share }) => (
        <div key={name}>
          <PublisherTag name={name} />
          <svg className="plot" height="16" aria-hidden="true">
            <rect className="soft0" x="0" y="3" width="100%" height="10" rx="2" />
            <rect className="f1" x="0" y="3" width={`${Math.min(1, share ?? 1) * 100}%`} height="10" rx="2" />
          </svg>
          <span className="xs soft">{chargeText(share, days)}</span>
        </div>
      ))}
      <p className="hint">
        Of a usual budget. What a publisher has left is its own secret. It charges once, when it starts to
        count, and the charge stays even if something fails later.
      </p>
    </div>
  );
}

export function chargeText(share: number | undefined, days: number): string {
  if (share === undefined) return 'No noise can meet these parameters: publishers refuse them.';
  if (share > 1) return `${shareText(share, days)}: a publisher would refuse this`;
  if (share === 0) return 'Nothing is charged';
  return `${shareText(share, days)} · about ${Math.floor(1 / share).toLocaleString('en-US')} like this`;
}

/** Formats the share of each day's budget, such as `1.16 % of each of 28 days`. */
export function shareText(share: number, days: number): string {
  const each = days === 1 ? 'of 1 day' : `of each of ${days} days`;
  return `${percent(share, share < 0.001 ? 3 : share < 0.1 ? 2 : 0)} ${each}`;
}

function Send({ ask, block }: { ask: Ask; block: string | undefined }) {
  const { send, isSending, error } = useSend(ask.request);
  const now = useNow(1000);
  const { planned, publishers } = ask;
  return (
    <div className="stack tight">
      <button
        type="button"
        className="btn main block"
        disabled={block !== undefined || isSending}
        aria-describedby="ask-send-why"
        onClick={send}
      >
        {isSending
          ? 'Sending'
          : publishers.length > 0
            ? `Send to ${publisherCount(publishers.length)}`
            : 'Send'}
      </button>
      <p className="hint" id="ask-send-why" role="status">
        {block ?? `Checked ${ago(new Date(planned.time), now)} without sending anything.`}
      </p>
      {error && <ErrorNote error={error} />}
    </div>
  );
}
