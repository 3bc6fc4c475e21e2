/** Drafts the measurements of a request that creates one or several measurements. */
import { nonceMatches } from '@measurement-exchange/consent';
import {
  ExchangeError,
  invalid,
  type MeasurementInput,
  type Violation,
} from '@measurement-exchange/contract';
import type { RequestKey } from '../../database/versions.ts';
import { type Draft, draftMeasurement } from '../../domain/draft.ts';
import type { Protocols } from '../../domain/protocolOptions.ts';
import { requestKeyOf } from './requestKey.ts';

export interface Part {
  /** The prefix of the measurement's field paths in the request. */
  at: string;
  input: MeasurementInput;
  requestId: string | undefined;
}

export interface DraftedPart {
  at: string;
  draft: Draft;
  key: RequestKey | undefined;
}

/** Drafts every measurement of the request. Throws one error that lists the invalid fields of all measurements. */
export async function draftParts(
  consumer: string,
  parts: Part[],
  enabled: Protocols,
): Promise<DraftedPart[]> {
  const drafted: DraftedPart[] = [];
  const violations: Violation[] = [];
  for (const { at, input, requestId } of parts) {
    const wrong = await wrongNonces(input);
    try {
      const draft = located(at, () => draftMeasurement(consumer, input, wrong, enabled));
      drafted.push({ at, draft, key: requestKeyOf(input, requestId) });
    } catch (error) {
      if (!(error instanceof ExchangeError) || error.violations.length === 0) throw error;
      violations.push(...error.violations);
    }
  }
  if (violations.length > 0) throw invalid(violations);
  return drafted;
}

async function wrongNonces({ dataProviders }: MeasurementInput): Promise<Set<string>> {
  const wrong = new Set<string>();
  for (const [name, { encryptedRequisitionSpec, nonceHash }] of Object.entries(dataProviders)) {
    const { nonce } = encryptedRequisitionSpec;
    if (nonce !== undefined && !(await nonceMatches(nonce, nonceHash))) wrong.add(name);
  }
  return wrong;
}

/**
 * Runs `decide`, and prepends `at` to the field paths in an API error that `decide` throws. `at` is empty unless the
 * request is a batch.
 */
export function located<T>(at: string, decide: () => T): T {
  try {
    return decide();
  } catch (error) {
    if (at === '' || !(error instanceof ExchangeError)) throw error;
    const { reason, message, metadata } = error;
    const field = at + (metadata.field ?? '');
    throw new ExchangeError(reason, `${at.slice(0, -1)}: ${message}`, {
      ...error,
      metadata: { ...metadata, field: field.replace(/\.$/, '') },
      violations: error.violations.map((violation) => ({ ...violation, field: at + violation.field })),
      cause: error.cause,
    });
  }
}
