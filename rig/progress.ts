/** How far a harness has come, on standard error: a bar on a terminal, a line per quarter in a pipe. */
export interface Progress {
  update: (done: number, total: number) => void;
  end: () => void;
}

const WIDTH = 30;
const REPAINT_MS = 100;

export function startProgress(label: string): Progress {
  const { stderr } = process;
  let [paintedAt, quarters, shown] = [0, 0, false];
  return {
    update(done, total) {
      const part = total === 0 ? 1 : Math.min(done / total, 1);
      if (stderr.isTTY) {
        if (part < 1 && Date.now() - paintedAt < REPAINT_MS) return;
        const bar = '█'.repeat(Math.round(part * WIDTH)).padEnd(WIDTH, '░');
        stderr.write(`\r\u001b[2K${label} ${bar} ${Math.floor(part * 100)} %  ${done} of ${total}`);
        [paintedAt, shown] = [Date.now(), true];
      } else if (Math.floor(part * 4) > quarters) {
        quarters = Math.floor(part * 4);
        stderr.write(`${label}: ${Math.floor(part * 100)} %, ${done} of ${total}\n`);
      }
    },
    end() {
      if (shown) stderr.write('\r\u001b[2K');
    },
  };
}
