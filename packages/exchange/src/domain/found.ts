/** Errors about resources that do not exist. */
import { camelCase, ExchangeError, type Reason } from '@measurement-exchange/contract';

type NotFound = Extract<Reason, `${string}_NOT_FOUND`>;

/** The error's metadata has the resource name under a key such as `trustedRoot`, which is the reason minus `_NOT_FOUND`. */
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
