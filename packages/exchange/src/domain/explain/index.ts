/** Explains which parties a measurement, requisition, or computation is waiting for, or why it ended. */
import {
  type Ending,
  type Explanation,
  isTerminal,
  type Timestamp,
  type Wait,
} from '@measurement-exchange/contract';
import { computationState } from '../participants.ts';
import { endingOf, requisitionEnding } from './endings.ts';
import type { Facts } from './facts.ts';
import { deadlineOf, risksOf } from './risks.ts';
import { waitsOf } from './waits.ts';

export function explainMeasurement(facts: Facts): Explanation {
  const { measurement, participants } = facts.aggregate;
  const isComputation = facts.viewer === 'duchy';
  const state = isComputation ? computationState(facts.aggregate) : measurement.state;
  if (isTerminal(measurement.state)) return ended(state, measurement.updateTime, endingOf(facts));
  const isNew = state === 'AWAITING_REQUISITION_FULFILLMENT' || state === 'PENDING_PARAMS';
  const changed = isComputation ? participants[0]!.updateTime : measurement.updateTime;
  return pending(facts, state, isNew ? measurement.createTime : changed);
}

/** Explains a requisition to its provider. The facts contain only this requisition. */
export function explainRequisition(facts: Facts): Explanation {
  const [requisition] = facts.aggregate.requisitions;
  const { state, createTime, updateTime } = requisition!;
  if (state !== 'UNFULFILLED') return ended(state, updateTime, requisitionEnding(facts, requisition!));
  return pending(facts, state, createTime);
}

/** Explains a measurement or requisition that retention removed. Only its final state and end time are known. */
export function explainRemoved({ state, updateTime }: { state: string; updateTime: Timestamp }): Explanation {
  return ended(state, updateTime, {
    code: 'REMOVED',
    detail: `It ended as ${state}, and the retention of the exchange removed what it held.`,
    remedy: 'Nothing is left to read.',
  });
}

function pending(facts: Facts, state: string, since: Timestamp): Explanation {
  const waitingFor = waitsOf(facts);
  const deadline = deadlineOf(facts);
  const risks = risksOf(facts, deadline);
  return { state, since, summary: summaryOf(waitingFor), waitingFor, risks, nextDeadline: deadline?.at };
}

function ended(state: string, since: Timestamp, ending: Ending): Explanation {
  return { state, since, summary: ending.detail, waitingFor: [], risks: [], ending };
}

const MAX_NAMED = 3;

/** Describes the most severe wait, and names the other parties that must act. */
function summaryOf([first, ...others]: Wait[]): string {
  const sentence = first!.detail;
  const names = [...new Set(others.map(({ party }) => party))].filter((party) => party !== first!.party);
  if (names.length === 0) return sentence;
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
  return `${sentence.replace(/\.$/, '')}; it waits for ${names.slice(0, MAX_NAMED).join(', ')}${more} as well.`;
}
