/** Creates errors about resources that do not exist. */
import { camelCase, ExchangeError, type Reason } from '@measurement-exchange/contract';

type NotFound = Extract<Reason, `${string}_NOT_FOUND`>;

/**
 * Returns an error about a missing resource. The error's metadata has a key derived from the reason, such as
 * `trustedRoot` for `TRUSTED_ROOT_NOT_FOUND`.
 */
export function notFound(reason: NotFound, name: string, code?: 'FAILED_PRECONDITION'): ExchangeError {
  const resource = camelCase(reason.replace('_NOT_FOUND', '').toLowerCase());
  return new ExchangeError(reason, `${name} does not exist.`, {
    ...(code && { code }),
    metadata: { [resource]: name },
  });
}

export function requireFound<T>(found: T | undefined, reason: NotFound, name: string): T {
  if (found === undefined) throw notFound(reason, name);
  return found;
}
