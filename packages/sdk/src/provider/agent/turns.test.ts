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

  it('are given to another consumer at the next free place, regardless of the requests of the first one', async () => {
    const turns = createTurns(2);
    ask(turns, ...each('a', 1000), 'b', ...each('c', 2));
    for (let i = 0; i < 8; i++) {
      await immediate();
      ends[i]!();
    }
    await immediate();
    expect(begun).toEqual(['a', 'a', 'b', 'c', 'a', 'c', 'a', 'a', 'a', 'a']);
  });

  it('never exceed the number of places, even if one is released twice', async () => {
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
  it('admit up to the limit for each key, and report room once when half of them have ended', () => {
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
