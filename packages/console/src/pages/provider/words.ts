/** Text about refusals. */
import type { RefusalJustification } from '@measurement-exchange/contract';

export const JUSTIFICATIONS: Record<RefusalJustification, { title: string; meaning: string }> = {
  DECLINED: {
    title: 'We decline it',
    meaning: 'You could answer, and will not: policy, business or contract.',
  },
  UNFULFILLABLE: { title: 'It can never be answered', meaning: 'The data does not exist, and will not.' },
  SPEC_INVALID: {
    title: 'The request is wrong',
    meaning: 'It cannot be read, or asks for what your event groups do not have.',
  },
  INSUFFICIENT_PRIVACY_BUDGET: {
    title: 'The privacy budget is used up',
    meaning: 'Earlier answers have spent what these days have.',
  },
  CONSENT_SIGNAL_INVALID: {
    title: 'A signature or certificate is not valid',
    meaning: 'The checks on this page say which.',
  },
};
