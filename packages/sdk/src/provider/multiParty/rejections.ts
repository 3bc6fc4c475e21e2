/** Decides when and how often to resend a rejected upload, and tells the operator what to do in the meantime. */
import type { Rejection } from '../ledger/rejections.ts';
import type { UploadFailed } from './upload.ts';

/** The number of rejections after which the requisition is refused. */
export const MAX_REJECTIONS = 8;
const [FIRST_WAIT_MS, LONGEST_WAIT_MS] = [60_000, 3_600_000];

/**
 * Returns how long to wait before resending a rejected upload: a minute at first, then twice as long each time, up to
 * an hour. A duchy accepts the same bytes only after an operator fixes something. The operators have about two hours
 * before the requisition is refused.
 */
function waitAfterMs(count: number): number {
  return Math.min(FIRST_WAIT_MS * 2 ** (count - 1), LONGEST_WAIT_MS);
}

/**
 * Returns the record of an upload's rejections after one more rejection. The count increases only if the wait after the
 * last counted rejection is over.
 */
export function counted(
  earlier: Rejection | undefined,
  { message: why }: UploadFailed,
  now: number,
): Rejection {
  if (earlier === undefined) return { count: 1, countedAt: now, why };
  const isDue = now >= earlier.countedAt + waitAfterMs(earlier.count);
  return isDue ? { count: earlier.count + 1, countedAt: now, why } : { ...earlier, why };
}

/**
 * Thrown if a duchy rejected the stored upload. The same bytes are sent again after `waitMs`, unless the requisition
 * will be refused.
 */
export class UploadRejected extends Error {
  override readonly name = 'UploadRejected';
  readonly rejections: number;
  /** The time until the upload is sent again, or 0 if the requisition will be refused instead. */
  readonly waitMs: number;
  /** The action that the provider's operator can take. */
  readonly remedy: string;

  constructor(failed: UploadFailed, { count, countedAt }: Rejection, now: number) {
    super(failed.message, { cause: failed });
    this.rejections = count;
    this.waitMs = isGivenUp(count) ? 0 : Math.max(0, countedAt + waitAfterMs(count) - now);
    this.remedy = REMEDIES[failed.reason ?? ''] ?? OTHERWISE;
  }
}

export function isGivenUp(count: number): boolean {
  return count >= MAX_REJECTIONS;
}

const REMEDIES: Readonly<Record<string, string>> = {
  CERTIFICATE_IS_INVALID:
    "Ask the duchy's operator to trust your root for your name, and see that your certificate is in force.",
  UPLOAD_ALREADY_EXISTS:
    'The duchy has another upload in your name: see that no second agent works with your keys and another ledger.',
  REQUISITION_NOT_FOUND:
    'See that the endpoint is the right one, and ask its operator whether the duchy runs.',
};
const OTHERWISE = "Send this message to the duchy's operator; nothing of your data is in it.";
