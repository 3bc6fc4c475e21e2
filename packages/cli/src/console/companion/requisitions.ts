/** Decrypts and verifies the requests in a data provider's requisitions. */
import {
  type OpenedRequisition,
  type OpenedSpec,
  type SpecFacts,
  VERIFIED_MS,
} from '@measurement-exchange/console/companion';
import { decodeMeasurementSpec, type Requisition } from '@measurement-exchange/contract';
import { LRUCache } from 'lru-cache';
import type { Acting } from '../../connection/credentials.ts';
import type { AskedPart } from '../../party/questions.ts';
import { readAsked } from '../../party/requisitionShow.ts';

const CACHED = { max: 500, ttl: VERIFIED_MS };

/**
 * Returns a function that decrypts and verifies a requisition. The outcome is cached for each version of a requisition.
 */
export function createRequisitions(acting: Acting): (name: string) => Promise<OpenedRequisition> {
  const cache = new LRUCache<string, OpenedRequisition>(CACHED);
  return async (name) => {
    const requisition = await acting.client.getRequisition({ name });
    const version = `${name} ${requisition.etag}`;
    const known = cache.get(version);
    if (known !== undefined) return known;
    const opened = await open(acting, requisition);
    cache.set(version, opened);
    return opened;
  };
}

async function open(acting: Acting, requisition: Requisition): Promise<OpenedRequisition> {
  if (requisition.encryptedRequisitionSpec === undefined) {
    const error = 'The retention of the exchange has removed its contents.';
    return { steps: [], error, reason: 'CONTENT_REMOVED' };
  }
  const { verifyRequisitionSteps } = await import('@measurement-exchange/sdk/provider');
  const steps = await verifyRequisitionSteps(acting, requisition);
  const { question, questionError } = await readAsked(requisition, acting);
  if (question !== undefined) {
    const charge = steps.every(({ holds }) => holds) ? await chargeOf(requisition) : undefined;
    return { spec: { ...specOf(requisition, question), ...(charge && { charge }) }, steps };
  }
  const { code: reason, message } = questionError!;
  return { steps, error: `It cannot be read: ${message}.`, reason };
}

function specOf({ measurementSpec }: Requisition, parts: AskedPart[]): OpenedSpec {
  const decoded = measurementSpec && decodeMeasurementSpec(measurementSpec.message);
  return {
    ...(decoded && 'spec' in decoded && { measurement: withoutKeys(decoded.spec) }),
    parts: parts.map(({ eventGroup, interval, filter }) => ({
      ...(eventGroup !== undefined && { eventGroup }),
      ...(interval && { interval: { start: text(interval.start), end: text(interval.end) } }),
      ...(filter !== undefined && { filter }),
    })),
  };
}

/**
 * Returns the amount of privacy budget that a response to the requisition costs for each event group reference and day.
 * Returns undefined for a population measurement, which costs nothing, and for a spec that cannot be decoded.
 */
async function chargeOf({ measurementSpec, protocolConfig }: Requisition): Promise<OpenedSpec['charge']> {
  const decoded = decodeMeasurementSpec(measurementSpec!.message);
  if ('error' in decoded || decoded.spec.measurementType === 'POPULATION') return undefined;
  const { expectedCost } = await import('@measurement-exchange/sdk/provider');
  return expectedCost(decoded.spec, protocolConfig!);
}

type Decoded = Extract<ReturnType<typeof decodeMeasurementSpec>, { spec: unknown }>['spec'];

function withoutKeys({ measurementPublicKey: _, nonceHashes: __, ...facts }: Decoded): SpecFacts {
  return facts as SpecFacts;
}

const text = (time: Date | string) => (typeof time === 'string' ? time : time.toISOString());
