import { FilterError } from './errors.ts';

const MAX_LENGTH = 32_768;

/** Rejects a long filter. An agent calls this without loading the parser, so it has its own file. */
export function requireLength({ length }: string): void {
  if (length <= MAX_LENGTH) return;
  const message = `A filter has at most ${MAX_LENGTH} characters, and this one has ${length}`;
  throw new FilterError('FILTER_LIMIT', message);
}
