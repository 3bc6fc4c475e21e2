import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { note } from '../src/terminal/output.ts';
import { startLive } from '../src/terminal/progress.ts';
import { asTerminal, screenOf } from './terminal.ts';

let written: string;
beforeEach(() => {
  written = '';
  vi.useFakeTimers();
  vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => {
    written += chunk;
    return true;
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

it('notes appear above the live block while it is repainted, and below it after its end', () => {
  asTerminal();
  const live = startLive('title', 'hint');
  live.show(new Map([['a', 'waits']]));
  note('early');
  vi.advanceTimersByTime(500);
  note('a warning\nof two lines');
  vi.advanceTimersByTime(600);
  const block = [expect.stringMatching(/^. 1 s {2}title$/), '  a  waits'];
  const notes = ['early', 'a warning', 'of two lines'];
  expect(screenOf(written)).toEqual([...notes, ...block, '  hint']);
  live.end();
  note('late');
  expect(screenOf(written)).toEqual([...notes, ...block, 'late']);
});
