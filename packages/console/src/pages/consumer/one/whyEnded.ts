/** Explains to the consumer why a measurement ended without a result. */
import type { Ending, Explanation, Requisition } from '@measurement-exchange/contract';
import type { Question } from '@measurement-exchange/sdk';
import { REFUSAL_CODES, refusalCodeOf } from '@measurement-exchange/sdk/refusals';
import { longDay, longMoment } from '../../../format.ts';
import { inWords, type NameOf } from '../../../parts/names.ts';
import type { Why } from './why.ts';

const TITLES: Partial<Record<Ending['code'], string>> = {
  CANCELLED: 'You canceled it',
  PENDING_TOO_LONG: 'The exchange canceled it, because it waited for too long',
  CERTIFICATE_REVOKED: 'A certificate was revoked',
  DUCHY_GAVE_UP: 'A duchy could not compute it',
  DEADLINE_MISSED: 'A party missed its deadline',
  REMOVED: 'The exchange has removed what it held',
};

export function whyItEnded(
  explanation: Explanation,
  {
    requisitions,
    question,
    nameOf,
  }: { requisitions: readonly Requisition[]; question: Question | undefined; nameOf: NameOf },
): Why | undefined {
  const { ending, since } = explanation;
  if (ending === undefined || ending.code === 'SUCCEEDED') return undefined;
  const refused = requisitions.find(({ refusal }) => refusal !== undefined);
  if (ending.code === 'REFUSED' && refused !== undefined) return refusedWhy(refused, question, nameOf);
  const isCanceled =
    ending.code === 'CANCELLED' || ending.code === 'PENDING_TOO_LONG' || ending.code === 'REMOVED';
  return {
    tone: isCanceled ? 'warn' : 'bad',
    icon: isCanceled ? 'minus' : 'x',
    chip: isCanceled ? 'Ended' : 'Failed permanently',
    title: TITLES[ending.code] ?? inWords(ending.detail, nameOf),
    text: ending.code === 'CANCELLED' ? `On ${longMoment(since)}.` : inWords(ending.detail, nameOf),
    todo: ending.code === 'REMOVED' ? '' : 'It stays so. You can ask again with a clone.',
    code: ending.code,
  };
}

function refusedWhy(
  { dataProvider = '', refusal }: Requisition,
  question: Question | undefined,
  nameOf: NameOf,
): Why {
  const { justification, message = '' } = refusal!;
  const who = nameOf(dataProvider);
  const code = refusalCodeOf(message);
  const day = refusedDay(message, question, dataProvider);
  const { meaning, remedy } = code ? REFUSAL_CODES[code] : PLAIN[justification];
  const isBudget = justification === 'INSUFFICIENT_PRIVACY_BUDGET';
  return {
    tone: 'bad',
    icon: 'x',
    chip: 'Failed permanently',
    title: isBudget
      ? `${who}'s budget ${day ? `for ${longDay(day)} ` : ''}is used up`
      : `${who} refused: ${meaning.charAt(0).toLowerCase()}${meaning.slice(1).replace(/\.$/, '')}`,
    text: code === 'BUDGET_EXCEEDED' ? `${meaning} Nothing was charged at ${who}.` : '',
    ...(code === undefined && message !== '' && { quote: message }),
    todo: remedy,
    code: [justification, code ? message : undefined].filter(Boolean).join(' · '),
  };
}

/** Text for each justification, for refusals without a known code. */
const PLAIN: Record<
  NonNullable<Requisition['refusal']>['justification'],
  { meaning: string; remedy: string }
> = {
  CONSENT_SIGNAL_INVALID: {
    meaning: 'It could not verify that this is from you.',
    remedy: 'Ask it whether it trusts your root.',
  },
  SPEC_INVALID: {
    meaning: 'It cannot read the request, or does not offer this.',
    remedy: 'Ask for something else: other event groups, other days, another filter.',
  },
  INSUFFICIENT_PRIVACY_BUDGET: {
    meaning: 'Its privacy budget does not cover this request.',
    remedy: 'Ask for fewer days, other event groups or less precision.',
  },
  UNFULFILLABLE: { meaning: 'It can never answer this.', remedy: 'Ask it why, or ask without it.' },
  DECLINED: { meaning: 'It chose not to answer.', remedy: 'Talk to it, or ask without it.' },
};

/** Returns the date of the day that a refusal's message names only by number, such as `events[0], day 31`. */
export function refusedDay(
  message: string,
  question: Question | undefined,
  dataProvider: string,
): Date | undefined {
  const [, group, day] = /events\[(\d+)\], day (\d+)/.exec(message) ?? [];
  const asked = question?.dataProviders.find(({ name }) => name === dataProvider)?.eventGroups?.[
    Number(group)
  ];
  if (day === undefined || asked === undefined) return undefined;
  const start = new Date(asked.interval.start);
  return new Date(
    Date.UTC(start.getUTCFullYear(), start.getUTCMonth(), start.getUTCDate() + Number(day) - 1),
  );
}
