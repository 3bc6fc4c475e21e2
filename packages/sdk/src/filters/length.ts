import { FilterError } from './errors.ts';

const MAX_LENGTH = 32_768;

/**
 * Throws if a filter is too long. This function has its own file, so that a data provider's agent can call it without
 * loading the parser.
 */
export function requireLength({ length }: string): void {
  if (length <= MAX_LENGTH) return;
  const message = `A filter has at most ${MAX_LENGTH} characters, and this one has ${length}`;
  throw new FilterError('FILTER_LIMIT', message);
}
