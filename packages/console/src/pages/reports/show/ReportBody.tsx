/**
 * Shows a report: first the findings, then the main figure with its uncertainty, then the details. The component needs
 * no session, so that tests can show any report.
 */
import type { ReactNode } from 'react';
import { Agreement, Corrected } from './Corrected.tsx';
import { Findings } from './Findings.tsx';
import { Frequency } from './Frequency.tsx';
import { Groups } from './Groups.tsx';
import { Headline } from './Headline.tsx';
import { Overlap, WhatEachAdds } from './Overlap.tsx';
import { OverTime } from './OverTime.tsx';
import './report.css';
import type { Shown } from './shown.ts';

export function ReportBody({
  linkTo,
  children,
  ...shown
}: Shown & {
  /** Returns a link to the page of a measurement. */
  linkTo?: (measurement: string) => ReactNode;
  children?: ReactNode;
}) {
  return (
    <div className="stack wide report">
      <Findings {...shown} linkTo={linkTo} />
      <Headline {...shown} />
      <div className="cols two">
        <Overlap {...shown} />
        <WhatEachAdds {...shown} />
        <OverTime {...shown} />
        <Frequency {...shown} />
        <Groups {...shown} />
      </div>
      <Corrected {...shown} />
      <Agreement {...shown} />
      {children && <div className="cols two">{children}</div>}
    </div>
  );
}
