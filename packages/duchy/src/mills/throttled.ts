/**
 * The minimum time between progress reports. Reports are rare, because the exchange keeps only the last 200 reports of
 * each duchy per computation.
 */
const REPORT_MS = 5_000;

/**
 * Returns a function that passes on at most one progress report every 5 seconds. The function drops the value 1,
 * because the end of a stage is reported separately.
 */
export function throttled(report: (fraction: number) => void): (fraction: number) => void {
  let reportedAt = performance.now();
  return (fraction) => {
    if (fraction >= 1 || performance.now() < reportedAt + REPORT_MS) return;
    reportedAt = performance.now();
    report(fraction);
  };
}
