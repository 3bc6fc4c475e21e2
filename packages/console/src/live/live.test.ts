import { setTimeout } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { refresher } from './live.ts';

it('refresher reads once for many changes, and once more for changes during the read', async () => {
  const reads: string[] = [];
  const ended: PromiseWithResolvers<void>[] = [];
  const changed = refresher((collection) => {
    reads.push(collection);
    ended.push(Promise.withResolvers());
    return ended.at(-1)!.promise;
  });
  for (let i = 0; i < 100; i++) changed('measurements');
  changed('requisitions');
  await setTimeout(120);
  expect(reads).toEqual(['measurements', 'requisitions']);
  for (let i = 0; i < 100; i++) changed('measurements');
  await setTimeout(120);
  expect(reads).toHaveLength(2);
  for (const { resolve } of ended) resolve();
  await setTimeout(120);
  expect(reads).toEqual(['measurements', 'requisitions', 'measurements']);
});
