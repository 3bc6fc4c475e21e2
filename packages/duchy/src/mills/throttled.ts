/** The exchange keeps a few hundred progress reports of each duchy. */
const REPORT_MS = 5_000;

/** Passes a fraction on every few seconds, and never the last one: the end of a stage has a report of its own. */
export function throttled(report: (fraction: number) => void): (fraction: number) => void {
  let reportedAt = performance.now();
  return (fraction) => {
    if (fraction >= 1 || performance.now() < reportedAt + REPORT_MS) return;
    reportedAt = performance.now();
    report(fraction);
  };
}
