import { ConsentError, type ConsentErrorCode } from '@measurement-exchange/consent';
import { CertificateFault } from '../verification/certificates.ts';
import type { RefusalCode } from './codes.ts';
import { RefusalError, type RefusalPlace } from './refusalError.ts';

type FaultCode = ConsentErrorCode | CertificateFault['code'];
/** Returns whether to retry after an error with this code, instead of refusing the requisition. */
export type RetryableCode = (code: FaultCode) => boolean;
export const isNotYetValid: RetryableCode = (code) => code.endsWith('_NOT_YET_VALID');

/**
 * Waits for `check`. If the check fails with a consent or certificate error that is not retryable, throws a refusal
 * with `code`. Rethrows any other error.
 */
export async function refuseOnConsentError<T>(
  code: RefusalCode | ((failed: FaultCode) => RefusalCode),
  at: RefusalPlace,
  check: Promise<T>,
  isRetryable: RetryableCode = () => false,
): Promise<T> {
  try {
    return await check;
  } catch (error) {
    const isFault = error instanceof ConsentError || error instanceof CertificateFault;
    if (!isFault || isRetryable(error.code)) throw error;
    const refused = typeof code === 'string' ? code : code(error.code);
    throw new RefusalError(refused, `${at}: ${error.message}`, { at, cause: error });
  }
}
