/**
 * Computes the next deadline of a pending measurement, after which the exchange fails or cancels the measurement. Also
 * lists risks, such as a certificate that expires before the deadline.
 */
import { type Risk, type Timestamp, timestampOf } from '@measurement-exchange/contract';
import { certificateName, EXPIRING_DAYS } from '../certificate.ts';
import { WAITING, type WaitingState } from '../deadlines.ts';
import { computationState } from '../participants.ts';
import { type Facts, inWords, shortTime } from './facts.ts';
import { certificatesOf } from './waits.ts';

const HOUR_MS = 3600_000;
const NEAR = 1 / 4;

/** An operator may set a deadline that is never reached. */
const LAST_TIME = Date.UTC(9999, 11, 31);

interface Deadline {
  at: Timestamp;
  from: Timestamp;
}

export function deadlineOf({ aggregate, deadlines }: Facts): Deadline | undefined {
  const { measurement, participants } = aggregate;
  const all: Deadline[] = [];
  const add = (from: Timestamp, hours: number) => {
    all.push({ from, at: timestampOf(Math.min(Date.parse(from) + hours * HOUR_MS, LAST_TIME)) });
  };
  if (deadlines.cancelPendingAfterDays !== undefined) {
    add(measurement.createTime, deadlines.cancelPendingAfterDays * 24);
  }
  if (participants.length > 0) {
    const state = computationState(aggregate) as WaitingState;
    const isFromCreation = state === 'PENDING_PARAMS' || state === 'PENDING_FULFILLMENT';
    add(isFromCreation ? measurement.createTime : participants[0]!.updateTime, deadlines[WAITING[state]]);
  }
  return all.sort((a, b) => (a.at < b.at ? -1 : 1))[0];
}

export function risksOf(facts: Facts, deadline: Deadline | undefined): Risk[] {
  const { now } = facts;
  const until = deadline?.at ?? timestampOf(Date.parse(now) + EXPIRING_DAYS * 24 * HOUR_MS);
  const risks: Risk[] = certificatesOf(facts)
    .filter(({ notAfter }) => now <= notAfter && notAfter < until)
    .map(({ party, id, notAfter }) => ({
      code: 'CERTIFICATE_EXPIRES',
      detail: `${certificateName(party, id)} expires on ${shortTime(notAfter)}${deadline ? ', before the deadline' : ''}.`,
      at: notAfter,
    }));
  if (deadline === undefined) return risks;
  const { at, from } = deadline;
  const leftMs = Date.parse(at) - Date.parse(now);
  if (leftMs < NEAR * (Date.parse(at) - Date.parse(from))) {
    risks.push({
      code: 'DEADLINE_NEAR',
      detail: `It ends in ${inWords(leftMs)}, on ${shortTime(at)}, unless this happens before.`,
      at,
    });
  }
  for (const { state, deferral, provider } of facts.aggregate.requisitions) {
    if (state !== 'UNFULFILLED' || deferral === undefined || deferral.until <= at) continue;
    const detail = `${provider} deferred it until ${shortTime(deferral.until)}, after the deadline.`;
    risks.push({ code: 'DEFERRED_PAST_DEADLINE', detail, at });
  }
  return risks;
}
