/**
 * Shows the progress of harnesses on stderr. A terminal shows a bar for each harness. A pipe gets a line for each
 * quarter of the work.
 */
export interface Progress {
  update: (done: number, total: number) => void;
  end: () => void;
}

const WIDTH = 20;
const REPAINT_MS = 100;

/** The bars of all running harnesses, by label. */
const bars = new Map<string, string>();

export function startProgress(label: string): Progress {
  const { stderr } = process;
  let [paintedAt, quarters] = [0, 0];
  const paint = () => stderr.write(`\r\u001b[2K${[...bars.values()].join('   ')}`);
  return {
    update(done, total) {
      const part = total === 0 ? 1 : Math.min(done / total, 1);
      if (stderr.isTTY) {
        if (part < 1 && Date.now() - paintedAt < REPAINT_MS) return;
        const bar = '█'.repeat(Math.round(part * WIDTH)).padEnd(WIDTH, '░');
        bars.set(label, `${label} ${bar} ${Math.floor(part * 100)} %  ${done} of ${total}`);
        paint();
        paintedAt = Date.now();
      } else if (Math.floor(part * 4) > quarters) {
        quarters = Math.floor(part * 4);
        stderr.write(`${label}: ${Math.floor(part * 100)} %, ${done} of ${total}\n`);
      }
    },
    end() {
      if (bars.delete(label)) paint();
    },
  };
}
