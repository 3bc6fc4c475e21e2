/** Compares the terms that a provider signed for its sketch with the terms that this duchy got from the exchange. */
import { isDeepStrictEqual } from 'node:util';
import {
  type duchyMessages,
  equalBytes,
  type LiquidLegionsConfig,
  type LiquidLegionsProtocol,
  signedLegionsTerms,
  type Violation,
} from '@measurement-exchange/contract';
import { configOf } from '../../computations/plan.ts';
import type { StoredComputation } from '../../database/index.ts';

export function legionsConfig({ protocol, view }: StoredComputation): LiquidLegionsConfig {
  return configOf(protocol as LiquidLegionsProtocol, view);
}

/** Returns a violation if a term signed by the provider differs from the config. `wrongKey` checks the combined key. */
export function wrongTerm(
  signed: duchyMessages.Fulfillment_LiquidLegions,
  config: LiquidLegionsConfig,
): Violation | undefined {
  const told = signedLegionsTerms(config);
  const members = Object.keys(told) as (keyof typeof told)[];
  const field = members.find((member) => !isDeepStrictEqual(signed[member], told[member]));
  return field && { field, description: `must be ${told[field]}, as this duchy was told` };
}

export function wrongKey(
  { combinedPublicKey }: duchyMessages.Fulfillment_LiquidLegions,
  combined: Uint8Array,
): Violation | undefined {
  if (equalBytes(combinedPublicKey, combined)) return undefined;
  const description = 'must be the sum of the keys that the duchies of this computation signed';
  return { field: 'combinedPublicKey', description };
}
