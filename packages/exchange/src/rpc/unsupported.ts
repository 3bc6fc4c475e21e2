/** Rejects fields of the public API that the exchange does not support, instead of silently ignoring their values. */
import { invalid } from '@measurement-exchange/contract';

const DESCRIPTION = 'is not supported by this exchange';

/**
 * Throws if one of the given fields of the message is set. `path` is the path of the message in the request message, or
 * empty for the request message itself.
 */
export function unsupported<M extends object>(
  path: string,
  message: M | undefined,
  fields: (keyof M & string)[],
  description = DESCRIPTION,
): void {
  const at = path === '' ? '' : `${path}.`;
  const given = message === undefined ? [] : fields.filter((field) => isGiven(message[field]));
  if (given.length > 0) throw invalid(given.map((field) => ({ field: `${at}${field}`, description })));
}

function isGiven(value: unknown): boolean {
  if (typeof value === 'string' || Array.isArray(value) || value instanceof Uint8Array)
    return value.length > 0;
  return value !== undefined && value !== false && value !== 0;
}
