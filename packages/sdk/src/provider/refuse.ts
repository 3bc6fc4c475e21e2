import type { RefusalJustification } from '@measurement-exchange/contract';

/**
 * The requisition can never be fulfilled: it is refused, which fails its measurement for good. Anything else
 * that goes wrong is no `Refuse`, and is tried again.
 */
export class Refuse extends Error {
  override readonly name = 'Refuse';
  readonly justification: RefusalJustification;

  constructor(justification: RefusalJustification, message: string, options?: ErrorOptions) {
    super(presentable(message), options);
    this.justification = justification;
  }
}

/** Of a refusal the exchange takes 2,000 characters, and no half of a surrogate pair. */
function presentable(message: string): string {
  return message
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, 2000)
    .toWellFormed();
}
