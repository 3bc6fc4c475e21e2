/** Notes above the figures: contradictions, missing answers, and figures that are too small to tell from noise. */
import type { ReactNode } from 'react';
import { Icon } from '../../../parts/Icon.tsx';
import { findingsOf } from '../../../reports/findings.ts';
import type { Shown } from './shown.ts';

const LOOKS = {
  inconsistent: { icon: 'warn', tone: 'bad' },
  missing: { icon: 'clock', tone: 'warn' },
  noise: { icon: 'info', tone: undefined },
} as const;

const MOST = 6;

export function Findings({
  view,
  labels,
  nameOf,
  linkTo,
}: Shown & { linkTo?: ((measurement: string) => ReactNode) | undefined }) {
  const findings = findingsOf(view, labels, nameOf);
  const hidden = findings.length - MOST;
  return (
    <>
      {findings.slice(0, MOST).map(({ kind, title, detail, measurement }) => {
        const { icon, tone } = LOOKS[kind];
        return (
          <div key={`${title} ${detail}`} className={tone ? `note ${tone}` : 'note'}>
            <Icon name={icon} />
            <div>
              <b>{title}</b> {detail} {measurement && linkTo?.(measurement)}
            </div>
          </div>
        );
      })}
      {hidden > 0 && <p className="sm soft">{hidden} more like these.</p>}
    </>
  );
}
