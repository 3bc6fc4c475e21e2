/** Why something ended, and what to do next. */
import type { Ending } from '@measurement-exchange/contract';
import type { RequisitionOutline } from '../aggregate.ts';
import type { Facts } from './facts.ts';

const AGAIN = 'It stays so; create the measurement again.';

/** The ending of a measurement, and of its computation. */
export function endingOf({ aggregate, cause, viewer }: Facts): Ending {
  const { state, failure, consumer } = aggregate.measurement;
  const isConsumer = viewer === 'measurementConsumer';
  if (state === 'SUCCEEDED') {
    return isConsumer
      ? { code: 'SUCCEEDED', detail: 'It succeeded.', remedy: 'Read its results (mex measurements results).' }
      : { code: 'SUCCEEDED', detail: 'The result is set.', remedy: 'Nothing is left to do.' };
  }
  if (state === 'CANCELLED') {
    return cause === 'expired'
      ? {
          code: 'PENDING_TOO_LONG',
          detail: 'The retention of the exchange cancelled it, because it was pending for too long.',
          remedy: isConsumer ? AGAIN : 'Nothing is left to do.',
        }
      : {
          code: 'CANCELLED',
          detail: `${consumer} cancelled it.`,
          remedy: isConsumer ? AGAIN : 'Nothing is left to do.',
        };
  }
  const detail = failure!.message;
  switch (cause) {
    case 'refused':
      return {
        code: 'REFUSED',
        detail,
        remedy: isConsumer
          ? 'Change what the refusal names, or measure without this provider, and create the measurement again.'
          : 'Nothing is left to do.',
      };
    case 'certificateRevoked':
      return {
        code: 'CERTIFICATE_REVOKED',
        detail,
        remedy: 'Its owner registers another certificate; then the measurement can be created again.',
      };
    case 'overdue':
      return {
        code: 'DEADLINE_MISSED',
        detail,
        remedy: 'Ask those it waited for what kept them; then the measurement can be created again.',
      };
    default:
      return {
        code: 'DUCHY_GAVE_UP',
        detail,
        remedy:
          'It may be transient: create the measurement again; if it fails again, ask the operator of the duchy.',
      };
  }
}

/** A provider learns the state of the measurement, and not who or what ended it. */
export function requisitionEnding({ aggregate }: Facts, { state, refusal }: RequisitionOutline): Ending {
  const measurement = aggregate.measurement.state;
  if (state === 'FULFILLED') {
    return {
      code: 'FULFILLED',
      detail: `It is fulfilled, and the measurement is ${measurement}.`,
      remedy: 'Nothing is left to do.',
    };
  }
  if (state === 'REFUSED') {
    const { justification, message } = refusal!;
    return {
      code: 'REFUSED',
      detail: `You refused it: ${justification}${message ? ` (“${message}”)` : ''}.`,
      remedy: 'Nothing is left to do; the consumer may create another measurement.',
    };
  }
  return {
    code: 'WITHDRAWN',
    detail: `It was withdrawn, because the measurement is ${measurement}.`,
    remedy: 'Nothing is left to do: its data is not wanted any more.',
  };
}
