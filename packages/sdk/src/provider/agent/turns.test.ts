import { setImmediate as immediate } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { createBounds, createTurns, type Turns } from './turns.ts';

describe('turns', () => {
  /** The consumers whose work began, in order, and the functions that end the work. */
  let begun: string[];
  let ends: (() => void)[];
  beforeEach(() => {
    begun = [];
    ends = [];
  });
  const ask = (turns: Turns, ...consumers: string[]) => {
    for (const consumer of consumers) {
      turns.take(consumer).then((release) => {
        begun.push(consumer);
        ends.push(release);
      });
    }
  };
  const each = (consumer: string, count: number) => Array<string>(count).fill(consumer);

  it('come to a second consumer at the next free place, however much the first one asks', async () => {
    const turns = createTurns(2);
    ask(turns, ...each('a', 1000), 'b', ...each('c', 2));
    for (let i = 0; i < 8; i++) {
      await immediate();
      ends[i]!();
    }
    await immediate();
    expect(begun).toEqual(['a', 'a', 'b', 'c', 'a', 'c', 'a', 'a', 'a', 'a']);
  });

  it('never fill more places than there are, though one is given back twice', async () => {
    const turns = createTurns(2);
    ask(turns, ...each('a', 5));
    await immediate();
    expect(begun).toHaveLength(2);
    ends[0]!();
    ends[0]!();
    await immediate();
    expect(begun).toHaveLength(3);
    ends[1]!();
    ends[2]!();
    await immediate();
    expect(begun).toHaveLength(5);
  });
});

describe('bounds', () => {
  it('admit so many for each key, and say once when half of them have ended', () => {
    let rooms = 0;
    const bounds = createBounds(() => rooms++);
    const admitted = (key: string) => Array.from({ length: 80 }, () => bounds.admit(key, 8)).filter(Boolean);
    expect(admitted('a')).toHaveLength(8);
    expect(bounds.admit('b', 8)).toBe(true);
    for (let i = 0; i < 3; i++) bounds.end('a');
    expect(rooms).toBe(0);
    bounds.end('a');
    expect(rooms).toBe(1);
    for (let i = 0; i < 4; i++) bounds.end('a');
    bounds.end('b');
    expect(rooms).toBe(1);
    expect(admitted('a')).toHaveLength(8);
  });
});
