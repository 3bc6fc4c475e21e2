/**
 * Shows the cost of a report: the charge to each publisher's budget, and the numbers of answered measurements and of
 * reused answers.
 */
import { count, counted } from '../../../format.ts';
import type { NeedView, ReportView } from '../../../reports/types.ts';
import { shareText } from '../../ask/form/Summary.tsx';
import { ChargeBars } from '../ChargeBars.tsx';
import { Card } from '../show/Card.tsx';

export function Cost({ view: { charges, needs } }: { view: Pick<ReportView, 'charges' | 'needs'> }) {
  const isFree = charges.every(({ share }) => share === 0);
  const reused = needs.filter(({ isReused }) => isReused).length;
  const isWhole = needs.every(({ state }) => state === 'SUCCEEDED');
  const failed = needs.some(({ isReused, state = '' }) => !isReused && LOST.has(state));
  return (
    <Card
      title="What it cost"
      hint="Share of a usual daily budget, on the busiest day. The plan and each publisher's ledger compute the same charge. What a publisher has left is its own secret."
    >
      {isFree ? (
        <p className="sm soft">Nothing was charged for this report.</p>
      ) : (
        <div className="stack tight">
          <ChargeBars charges={charges} textOf={costText} />
        </div>
      )}
      {failed && (
        <p className="hint">
          A measurement that failed counts here, because publishers may have answered their part of it.
        </p>
      )}
      <dl className="kv">
        <dt>Measurements</dt>
        <dd>{answeredText(needs)}</dd>
        <dt>Reused</dt>
        <dd>{reused === 0 ? 'None' : `${counted(reused, 'answer')} from before, at no cost`}</dd>
        <dt>Run it again</dt>
        <dd>
          {isWhole
            ? 'Free: every answer is already here'
            : 'Asks only what has no answer, and only that is charged'}
        </dd>
      </dl>
    </Card>
  );
}

const LOST: ReadonlySet<string> = new Set(['FAILED', 'CANCELLED', 'REJECTED']);

const costText = (share: number, days: number) =>
  share === 0 ? 'Nothing was charged' : shareText(share, days);

/**
 * Counts the answered measurements. A need is a number that the report requires. Several needs can have the same
 * measurement, because one measurement can count the impressions of several publishers.
 */
function answeredText(needs: readonly NeedView[]): string {
  const answered = needs.filter(({ state }) => state === 'SUCCEEDED');
  const number = (of: readonly NeedView[]) => new Set(of.map(({ measurement }) => measurement)).size;
  const all = number(answered);
  const alone = number(answered.filter(({ protocol }) => protocol === 'direct'));
  return `${count(all)} answered: ${count(all - alone)} by duchies, ${count(alone)} by publishers alone`;
}
