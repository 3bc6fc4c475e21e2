import { expect, it } from 'vitest';
import { BodyMemory } from './bodyMemory.ts';

it('limits the request bodies of a principal to 64 MiB at a time, independently of other principals', () => {
  const memory = new BodyMemory();
  const MiB = 1024 * 1024;
  expect(memory.take('a', 64 * MiB)).toBe(true);
  expect(memory.take('a', 1)).toBe(false);
  expect(memory.take('b', MiB)).toBe(true);
  memory.release('a', MiB);
  expect(memory.take('a', MiB)).toBe(true);
  memory.release('a', 64 * MiB);
  expect(memory.take('a', 64 * MiB)).toBe(true);
});
