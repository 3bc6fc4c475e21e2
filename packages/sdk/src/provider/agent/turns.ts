/**
 * Limits how many long tasks run at the same time. Consumers take turns, so a consumer with many requisitions delays
 * only itself.
 */

export type Turns = ReturnType<typeof createTurns>;

interface Line {
  waiting: (() => void)[];
  held: number;
  /** The number of the turn in which the consumer last got a slot. */
  lastTurn: number;
}

export function createTurns(places: number) {
  /** The queue of each consumer that waits for a slot or holds one. */
  const lines = new Map<string, Line>();
  let free = places;
  let turn = 0;

  /**
   * Picks the waiting consumer that holds the fewest slots. Ties go to the consumer whose last turn was longest ago.
   */
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
     * Waits until a slot is free and this consumer is next, then resolves to a function that releases the slot. A
     * consumer's tasks start in the order of the calls.
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

/**
 * Limits the number of open tasks per key. After `admit` returned false for a key, calls `onRoom` as soon as at most
 * half of the limit of this key is used.
 */
export function createBounds(onRoom: () => void) {
  const open = new Map<string, number>();
  /** The keys for which `admit` returned false, each with its limit. */
  const full = new Map<string, number>();
  return {
    /**
     * Returns true and counts another task if fewer than `most` tasks with this key are open. Otherwise, returns false,
     * and calls `onRoom` later, as soon as at most `most / 2` tasks with this key are open.
     */
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
