/** Places for work that takes long. Consumers take turns, so that one that asks much waits for itself. */

export interface Turns {
  /**
   * Resolves when there is a place and it is this consumer's turn, to what gives the place back. Each consumer's work
   * begins in the order in which it came.
   */
  take(consumer: string): Promise<() => void>;
}

interface Line {
  waiting: (() => void)[];
  /** How many places it has. */
  held: number;
  /** When it last got one, in turns since the beginning. */
  lastTurn: number;
}

export function createTurns(places: number): Turns {
  /** By consumer; of those that wait or have a place. */
  const lines = new Map<string, Line>();
  let free = places;
  let turn = 0;

  /** The one with the fewest places is next; of several the one whose last turn is longest ago. */
  function next(): Line | undefined {
    const waiting = [...lines.values()].filter((line) => line.waiting.length > 0);
    return waiting.sort((a, b) => a.held - b.held || a.lastTurn - b.lastTurn)[0];
  }

  function begin(): void {
    for (let line = next(); free > 0 && line; line = next()) {
      free--;
      line.held++;
      line.lastTurn = ++turn;
      line.waiting.shift()!();
    }
  }

  return {
    take: (consumer) =>
      new Promise((resolve) => {
        const line = lines.get(consumer) ?? { waiting: [], held: 0, lastTurn: 0 };
        lines.set(consumer, line);
        let isTaken = true;
        const release = () => {
          if (!isTaken) return;
          isTaken = false;
          free++;
          line.held--;
          if (line.held === 0 && line.waiting.length === 0) lines.delete(consumer);
          begin();
        };
        line.waiting.push(() => resolve(release));
        begin();
      }),
  };
}

/** Counts open work by key, and reports when there is room again for a key that was full. */
export interface Bounds {
  /** Whether one more may begin; where not, `onRoom` is called once half of them have ended. */
  admit(key: string, most: number): boolean;
  end(key: string): void;
}

export function createBounds(onRoom: () => void): Bounds {
  const open = new Map<string, number>();
  /** Keys of which something was not admitted, with how many may be open when it is looked at again. */
  const full = new Map<string, number>();
  return {
    admit(key, most) {
      const count = open.get(key) ?? 0;
      if (count >= most) {
        full.set(key, most);
        return false;
      }
      open.set(key, count + 1);
      return true;
    },
    end(key) {
      const count = open.get(key)! - 1;
      if (count > 0) open.set(key, count);
      else open.delete(key);
      const most = full.get(key);
      if (most === undefined || count > most / 2) return;
      full.delete(key);
      onRoom();
    },
  };
}
