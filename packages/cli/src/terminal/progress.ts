/** Prints progress to standard error: a bar on a terminal, or a line for each 10% in a pipe. */
import { divertNotes } from './output.ts';

export interface Progress {
  update: (done: number, total: number) => void;
  end: () => void;
}

const WIDTH = 30;
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

/**
 * Shows several activities: on a terminal by repainting their lines, and in a pipe by printing a line for each change.
 */
interface Live {
  /** Shows one line for each entry of the map. The key is the label of the line, and the value is its text. */
  show: (lines: Map<string, string>) => void;
  end: () => void;
}

const SPINNER = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';

/** Starts showing activities below `title`, with a line for each activity. `hint` is an extra line for the user. */
export function startLive(title: string, hint: string): Live {
  const { stderr } = process;
  if (!stderr.isTTY) return lineByLine(title, hint);
  const startedAt = Date.now();
  let current = new Map<string, string>();
  let [painted, turn] = [0, 0];

  const repaint = (mark: string) => {
    const seconds = Math.floor((Date.now() - startedAt) / 1000);
    const width = Math.max(...[...current.keys()].map((label) => label.length), 0);
    const lines = [
      `${mark} ${seconds} s  ${title}`,
      ...[...current].map(([label, text]) => `  ${label.padEnd(width)}  ${text}`),
      `  ${hint}`,
    ];
    // Truncate lines to the terminal's width, because the next repaint could not overwrite a wrapped line completely.
    const cut = lines.map((line) => `\u001b[2K${line.slice(0, (stderr.columns || 80) - 1)}\n`);
    stderr.write(`${painted > 0 ? `\u001b[${painted}A` : ''}${cut.join('')}`);
    painted = lines.length;
  };
  // Erase the painted lines before writing a note, because the next repaint would otherwise overwrite the note.
  const release = divertNotes((text) => {
    stderr.write(`${painted > 0 ? `\u001b[${painted}A\u001b[J` : ''}${text}\n`);
    painted = 0;
  });
  const timer = setInterval(() => repaint(SPINNER[turn++ % SPINNER.length]!), REPAINT_MS);
  return {
    show(lines) {
      current = lines;
    },
    /** Leaves the last state on the screen, and removes the hint. */
    end() {
      clearInterval(timer);
      release();
      repaint('·');
      stderr.write('\u001b[1A\u001b[2K');
    },
  };
}

function lineByLine(title: string, hint: string): Live {
  let current = new Map<string, string>();
  process.stderr.write(`${title}\n${hint}\n`);
  return {
    show(lines) {
      for (const [label, text] of lines) {
        if (current.get(label) !== text) process.stderr.write(`${label}: ${text}\n`);
      }
      current = lines;
    },
    end() {},
  };
}
