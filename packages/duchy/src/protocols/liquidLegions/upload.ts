/** Checks the uploads of both Liquid Legions protocols. An upload is a sketch with encrypted registers. */
import {
  type duchyMessages,
  ExchangeError,
  type LiquidLegionsProtocol,
  type Violation,
} from '@measurement-exchange/contract';
import type { Duchy } from '../../computations/context.ts';
import { NotReady, PermanentError } from '../../computations/errors.ts';
import { fail } from '../../computations/exchange.ts';
import { follow } from '../../computations/follow.ts';
import { ownPlace } from '../../computations/places.ts';
import { configOf } from '../../computations/plan.ts';
import { exchangeUnavailable, mismatch } from '../../computations/rejections.ts';
import type { StoredComputation } from '../../database/index.ts';
import { withParameters } from '../../peers/key.ts';
import type { UploadRules } from '../protocol.ts';
import { combinedKey } from './keys.ts';
import { asPoints } from './points.ts';
import { wrongKey, wrongTerm } from './terms.ts';

export function sketchRules(protocol: LiquidLegionsProtocol, registerBytes: number): UploadRules {
  return {
    dataLength: ({ registerCount }) => registerCount * registerBytes,
    secretSeed(fulfillment, { view }) {
      requireNone(wrongTerm(termsOf(fulfillment), configOf(protocol, view)));
      return new Uint8Array(0);
    },
    async requireKeys(duchy, fulfillment, computation) {
      requireNone(wrongKey(termsOf(fulfillment), await keyOf(duchy, computation)));
    },
    checked: (_duchy, data) => asPoints(data, registerBytes),
  };
}

function termsOf({ protocolData }: duchyMessages.Fulfillment): duchyMessages.Fulfillment_LiquidLegions {
  if (protocolData.case === 'liquidLegions') return protocolData.value;
  throw mismatch('fulfillment.liquidLegions', 'must be there');
}

function requireNone(violation: Violation | undefined): void {
  if (violation) throw mismatch(`fulfillment.liquidLegions.${violation.field}`, violation.description);
}

/**
 * Returns the duchies' combined key. If a duchy's key is invalid, fails the computation, because no upload can be valid
 * without a valid combined key.
 */
async function keyOf(duchy: Duchy, computation: StoredComputation): Promise<Uint8Array> {
  try {
    const { ring } = ownPlace(computation.view);
    const fresh = await withParameters(duchy, computation, ring);
    if (fresh.outcome !== null) throw hasEnded(`it is ${fresh.outcome}`);
    return await combinedKey(duchy, fresh);
  } catch (error) {
    if (error instanceof ExchangeError && error.reason === ENDED) throw error;
    if (error instanceof NotReady) {
      const message = 'Not all duchies have set their parameters yet: retry.';
      throw new ExchangeError('STAGE_OUT_OF_ORDER', message, { retryAfterSeconds: 1 });
    }
    if (!(error instanceof PermanentError)) throw exchangeUnavailable(error);
    const ended = await fail(duchy.client, computation.view.name!, error).catch((failed) => {
      throw exchangeUnavailable(failed);
    });
    await follow(duchy, ended);
    throw hasEnded(error.message);
  }
}

const ENDED = 'COMPUTATION_STATE_ILLEGAL';

function hasEnded(why: string): ExchangeError {
  return new ExchangeError(ENDED, `The computation has ended: ${why}`);
}
