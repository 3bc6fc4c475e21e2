/** The minimum time between progress reports. The exchange stores only a few hundred reports per duchy. */
const REPORT_MS = 5_000;

/**
 * Limits progress reports to one every few seconds. Never reports the value 1, because the end of a stage is reported
 * separately.
 */
export function throttled(report: (fraction: number) => void): (fraction: number) => void {
  let reportedAt = performance.now();
  return (fraction) => {
    if (fraction >= 1 || performance.now() < reportedAt + REPORT_MS) return;
    reportedAt = performance.now();
    report(fraction);
  };
}
