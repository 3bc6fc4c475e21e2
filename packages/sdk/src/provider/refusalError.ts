import type { RefusalJustification } from '@measurement-exchange/contract';

/**
 * The requisition can never be fulfilled and is refused, which fails its measurement for good. Every other error is
 * retried.
 */
export class RefusalError extends Error {
  override readonly name = 'RefusalError';
  readonly justification: RefusalJustification;

  constructor(justification: RefusalJustification, message: string, options?: ErrorOptions) {
    super(toAcceptedText(message), options);
    this.justification = justification;
  }
}

/** The exchange accepts up to 2,000 characters of well-formed Unicode. */
function toAcceptedText(message: string): string {
  return message
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, 2000)
    .toWellFormed();
}
