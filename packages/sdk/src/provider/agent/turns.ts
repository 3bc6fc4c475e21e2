/** Limits how much long work runs at once. Consumers take turns, so one with many requisitions delays only itself. */

export type Turns = ReturnType<typeof createTurns>;

interface Line {
  waiting: (() => void)[];
  /** The number of places that the consumer has now. */
  held: number;
  /** The number of the turn in which the consumer last got a place. */
  lastTurn: number;
}

export function createTurns(places: number) {
  /** The lines of all consumers that wait or have a place. */
  const lines = new Map<string, Line>();
  let free = places;
  let turn = 0;

  /** The consumer with the fewest places is next; of several such consumers, the one whose last turn is longest ago. */
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
    /**
     * Resolves to a function that releases the place, once a place is free and it is this consumer's turn. Work of the
     * same consumer begins in the order of its calls.
     */
    take: (consumer: string) =>
      new Promise<() => void>((resolve) => {
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

/** Counts open work by key, and calls `onRoom` when there is room again for a key that was full. */
export function createBounds(onRoom: () => void) {
  const open = new Map<string, number>();
  /** Keys that were full when `admit` was called, with the limit of each. */
  const full = new Map<string, number>();
  return {
    /** Whether another piece of work may begin. After a false, `onRoom` is called when at most half of `most` are open. */
    admit(key: string, most: number): boolean {
      const count = open.get(key) ?? 0;
      if (count >= most) {
        full.set(key, most);
        return false;
      }
      open.set(key, count + 1);
      return true;
    },
    end(key: string): void {
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
