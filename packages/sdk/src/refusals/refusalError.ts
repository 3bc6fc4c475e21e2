import type { ConsentError } from '@measurement-exchange/consent';
import type {
  LiquidLegionsConfig,
  LiquidLegionsProtocol,
  Refusal,
  RefusalJustification,
  Requisition,
  ShareShuffleConfig,
} from '@measurement-exchange/contract';
import { REFUSAL_CODES, type RefusalCode } from './codes.ts';

type FilterPlace = `events[${number}].filter` | 'population.filter';

/**
 * The field that a refusal is about. The requisition spec is encrypted, so its fields are described only with fixed
 * words and numbers, which reveal none of its text. The MeasurementSpec is not encrypted, so any of its fields may be
 * named.
 */
export type RefusalPlace =
  | keyof Requisition
  | `protocolConfig.honestMajorityShareShuffle.${keyof ShareShuffleConfig}`
  | `protocolConfig.${LiquidLegionsProtocol}.${keyof LiquidLegionsConfig}${'' | '.epsilon' | '.delta'}`
  | `measurementSpec.${string}`
  | `requisitionSpec${'' | '.nonce' | '.measurementPublicKey'}`
  | 'events'
  | `events[${number}]${'' | '.interval' | `, day ${number}`}`
  | 'population'
  | FilterPlace;

/** A position in a filter's text. Line and column are 1-based. */
export interface FilterPosition {
  line: number;
  column: number;
}

export interface RefusalDetails {
  at?: RefusalPlace | undefined;
  position?: FilterPosition | undefined;
  /** The error that led to the refusal. If it is a ConsentError, the refusal contains its code. */
  cause?: unknown;
}

/**
 * Thrown if a requisition can never be fulfilled. The agent then refuses the requisition, which permanently fails its
 * measurement. After any other error, the agent retries. The message is for the provider's log, and may quote the spec
 * and names that only the provider knows.
 */
export class RefusalError extends Error {
  override readonly name: string = 'RefusalError';
  readonly code: RefusalCode;
  readonly position: FilterPosition | undefined;
  at: RefusalPlace | undefined;

  constructor(code: RefusalCode, message: string, { at, position, cause }: RefusalDetails = {}) {
    super(message, { cause });
    this.code = code;
    this.at = at;
    this.position = position;
  }

  get justification(): RefusalJustification {
    return REFUSAL_CODES[this.code].justification;
  }

  /** The refusal to send to the exchange. The refusal contains nothing from the error's message. */
  get refusal(): Refusal {
    const consentCode = isConsentError(this.cause) ? ` (${this.cause.code})` : '';
    const at = this.at === undefined ? '' : ` at ${this.at}`;
    const { line, column } = this.position ?? {};
    const position = line === undefined ? '' : `, line ${line}, column ${column}`;
    return { justification: this.justification, message: `${this.code}${consentCode}${at}${position}` };
  }
}

/**
 * Recognizes a ConsentError by its name, so that the process that evaluates filters does not have to load the consent
 * package.
 */
function isConsentError(error: unknown): error is ConsentError {
  return error instanceof Error && error.name === 'ConsentError';
}

/** Runs a check of the field at `place`. If the check throws a refusal without a field, adds `place` to the refusal. */
export async function checkAt<T>(place: RefusalPlace, check: () => Promise<T>): Promise<T> {
  try {
    return await check();
  } catch (error) {
    if (error instanceof RefusalError) error.at ??= place;
    throw error;
  }
}
