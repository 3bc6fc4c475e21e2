import { moment } from '../../format.ts';
import { Icon } from '../../parts/Icon.tsx';
import { certificateLife } from './certificateLife.ts';

const FILL = { bad: 'fb', warn: 'fw', ok: 'f1' };

/** Shows the remaining days of a certificate. The bar is full if at least a year remains. */
export function LifeBar({ notAfter }: { notAfter: string | undefined }) {
  if (notAfter === undefined) {
    return (
      <span className="xs warn">
        <Icon name="warn" /> None
      </span>
    );
  }
  const { words, tone, share } = certificateLife(notAfter);
  return (
    <span className="bar-in" title={`Ends ${moment(notAfter)}`}>
      <span className={`xs ${tone ?? 'soft'}`}>
        {tone && <Icon name="warn" />} {words}
      </span>
      <svg className="plot" height="8" aria-hidden="true">
        <rect className="soft0" x="0" y="1" width="100%" height="6" rx="3" />
        <rect className={FILL[tone ?? 'ok']} x="0" y="1" width={`${share * 100}%`} height="6" rx="3" />
      </svg>
    </span>
  );
}
