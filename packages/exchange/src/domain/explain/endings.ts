/** Why something ended, and what to do next. */
import type { Ending } from '@measurement-exchange/contract';
import type { RequisitionOutline, Trigger } from '../aggregate.ts';
import type { Facts } from './facts.ts';

const AGAIN = 'It stays so; create the measurement again.';
const DONE = 'Nothing is left to do.';

/** By the cause of the last step of a measurement that failed; of the other causes, a duchy gave up. */
const FAILURES: Partial<Record<Trigger, Pick<Ending, 'code' | 'remedy'>>> = {
  refused: {
    code: 'REFUSED',
    remedy:
      'Change what the refusal names, or measure without this provider, and create the measurement again.',
  },
  certificateRevoked: {
    code: 'CERTIFICATE_REVOKED',
    remedy: 'Its owner registers another certificate; then the measurement can be created again.',
  },
  overdue: {
    code: 'DEADLINE_MISSED',
    remedy: 'Ask those it waited for what kept them; then the measurement can be created again.',
  },
};
const GAVE_UP: Pick<Ending, 'code' | 'remedy'> = {
  code: 'DUCHY_GAVE_UP',
  remedy:
    'It may be transient: create the measurement again; if it fails again, ask the operator of the duchy.',
};

/** The ending of a measurement, and of its computation. */
export function endingOf({ aggregate, cause, viewer }: Facts): Ending {
  const { state, failure, consumer } = aggregate.measurement;
  const isConsumer = viewer === 'measurementConsumer';
  if (state === 'SUCCEEDED') {
    return isConsumer
      ? { code: 'SUCCEEDED', detail: 'It succeeded.', remedy: 'Read its results (mex measurements results).' }
      : { code: 'SUCCEEDED', detail: 'The result is set.', remedy: DONE };
  }
  if (state === 'CANCELLED') {
    const remedy = isConsumer ? AGAIN : DONE;
    if (cause !== 'expired') return { code: 'CANCELLED', detail: `${consumer} cancelled it.`, remedy };
    const detail = 'The retention of the exchange cancelled it, because it was pending for too long.';
    return { code: 'PENDING_TOO_LONG', detail, remedy };
  }
  const { code, remedy } = FAILURES[cause] ?? GAVE_UP;
  const isLeft = isConsumer || code !== 'REFUSED';
  return { code, detail: failure!.message, remedy: isLeft ? remedy : DONE };
}

/** A provider learns the state of the measurement, and not who or what ended it. */
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
