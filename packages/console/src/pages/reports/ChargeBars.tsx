/** Draws a bar for each publisher: the report's highest charge to one day, as a share of a usual daily budget. */
import { PublisherTag } from '../../parts/Publisher.tsx';
import type { ChargeView } from '../../reports/types.ts';

interface Props {
  charges: readonly ChargeView[];
  textOf: (share: number, days: number) => string;
}

export function ChargeBars({ charges, textOf }: Props) {
  return charges.map(({ dataProvider, days, share }) => (
    <div key={dataProvider}>
      <PublisherTag name={dataProvider} />
      <svg className="plot" height="16" aria-hidden="true">
        <rect className="soft0" x="0" y="3" width="100%" height="10" rx="2" />
        <rect className="f1" x="0" y="3" width={`${Math.min(1, share) * 100}%`} height="10" rx="2" />
      </svg>
      <span className="xs soft">{textOf(share, days)}</span>
    </div>
  ));
}
