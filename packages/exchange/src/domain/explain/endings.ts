/** Explains why a measurement or requisition ended, and what to do next. */
import type { Ending } from '@measurement-exchange/contract';
import type { RequisitionOutline, TriggerTo } from '../aggregate.ts';
import type { Facts } from './facts.ts';

const AGAIN = 'It stays so; create the measurement again.';
const DONE = 'Nothing is left to do.';

const FAILURES: Record<TriggerTo<'FAILED'>, Pick<Ending, 'code' | 'remedy'>> = {
  refused: {
    code: 'REFUSED',
    remedy:
      'Fix the reason of the refusal, or measure without this provider, and create the measurement again.',
  },
  certificateRevoked: {
    code: 'CERTIFICATE_REVOKED',
    remedy: 'Its owner registers another certificate; then the measurement can be created again.',
  },
  overdue: {
    code: 'DEADLINE_MISSED',
    remedy: 'Ask the late parties for the reason; then the measurement can be created again.',
  },
  participantFailed: {
    code: 'DUCHY_GAVE_UP',
    remedy:
      'It may be transient: create the measurement again; if it fails again, ask the operator of the duchy.',
  },
};
const CANCELLATIONS: Record<TriggerTo<'CANCELLED'>, (consumer: string) => Pick<Ending, 'code' | 'detail'>> = {
  cancelled: (consumer) => ({ code: 'CANCELLED', detail: `${consumer} cancelled it.` }),
  expired: () => ({
    code: 'PENDING_TOO_LONG',
    detail: 'The retention of the exchange cancelled it, because it was pending for too long.',
  }),
};

export function endingOf({ aggregate, cause, viewer }: Facts): Ending {
  const { state, failure, consumer } = aggregate.measurement;
  const isConsumer = viewer === 'measurementConsumer';
  if (state === 'SUCCEEDED') {
    return isConsumer
      ? { code: 'SUCCEEDED', detail: 'It succeeded.', remedy: 'Read its results (mex measurements results).' }
      : { code: 'SUCCEEDED', detail: 'The result is set.', remedy: DONE };
  }
  if (state === 'CANCELLED') {
    const ending = CANCELLATIONS[cause as TriggerTo<'CANCELLED'>](consumer);
    return { ...ending, remedy: isConsumer ? AGAIN : DONE };
  }
  const { code, remedy } = FAILURES[cause as TriggerTo<'FAILED'>];
  const isLeft = isConsumer || code !== 'REFUSED';
  return { code, detail: failure!.message, remedy: isLeft ? remedy : DONE };
}

/**
 * Explains to a provider how its requisition ended. The provider learns the measurement's state, but not which party
 * ended it.
 */
export function requisitionEnding({ aggregate }: Facts, { state, refusal }: RequisitionOutline): Ending {
  const measurement = aggregate.measurement.state;
  if (state === 'FULFILLED') {
    return {
      code: 'FULFILLED',
      detail: `It is fulfilled, and the measurement is ${measurement}.`,
      remedy: DONE,
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
