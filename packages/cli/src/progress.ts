/** How far long work has come, on standard error: a bar on a terminal, a line per tenth in a pipe. */

export interface Progress {
  update: (done: number, total: number) => void;
  end: () => void;
}

const WIDTH = 30;
/** A terminal is repainted this often at most. */
const REPAINT_MS = 100;

export function startProgress(label: string, unit: 'measurements' | 'MB'): Progress {
  const { stderr } = process;
  let [paintedAt, tenths, shown] = [0, 0, false];

  const amounts = (done: number, total: number) =>
    unit === 'MB' ? `${megabytes(done)} of ${megabytes(total)} MB` : `${done} of ${total} ${unit}`;

  return {
    update(done, total) {
      const part = total === 0 ? 1 : Math.min(done / total, 1);
      const percent = `${Math.floor(part * 100)} %`;
      if (stderr.isTTY) {
        if (part < 1 && Date.now() - paintedAt < REPAINT_MS) return;
        const bar = '█'.repeat(Math.round(part * WIDTH)).padEnd(WIDTH, '░');
        stderr.write(`\r\u001b[2K${label} ${bar} ${percent.padStart(5)}  ${amounts(done, total)}`);
        [paintedAt, shown] = [Date.now(), true];
      } else if (Math.floor(part * 10) > tenths) {
        tenths = Math.floor(part * 10);
        stderr.write(`${label}: ${percent}, ${amounts(done, total)}\n`);
      }
    },
    end() {
      if (shown) stderr.write('\n');
    },
  };
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
