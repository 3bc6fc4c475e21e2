/** The exchange stores only a few hundred progress reports of each duchy. */
const REPORT_MS = 5_000;

/** Reports a fraction every few seconds, but never the last one, because the end of a stage is reported separately. */
export function throttled(report: (fraction: number) => void): (fraction: number) => void {
  let reportedAt = performance.now();
  return (fraction) => {
    if (fraction >= 1 || performance.now() < reportedAt + REPORT_MS) return;
    reportedAt = performance.now();
    report(fraction);
  };
}
