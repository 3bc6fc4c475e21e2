import type { Finding } from '@measurement-exchange/contract';
import { Icon } from '../../parts/Icon.tsx';

export function FindingList({ findings = [] }: { findings?: readonly Finding[] | undefined }) {
  return findings.map(({ code, field, message, remedy }) => (
    <div key={`${code} ${field}`} className="note warn">
      <Icon name="warn" />
      <div>
        <p>{message}</p>
        <p className="sm">{remedy}</p>
        <p className="xs">
          <code>{code}</code> at <code>{field}</code>
        </p>
      </div>
    </div>
  ));
}
