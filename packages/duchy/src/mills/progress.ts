/** Between two reports of how far a stage is: the exchange keeps a few hundred of each duchy. */
const REPORT_MS = 5_000;

/** Passes on how far a stage is, but not all of it; that it is done is told otherwise. */
export function nowAndThen(report: (fraction: number) => void): (fraction: number) => void {
  let reportedAt = performance.now();
  return (fraction) => {
    if (fraction >= 1 || performance.now() < reportedAt + REPORT_MS) return;
    reportedAt = performance.now();
    report(fraction);
  };
}
