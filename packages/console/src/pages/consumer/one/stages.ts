/** Describes the stages of the duchies, based on the protocol and on the duchies' reports. */
import {
  type Progress,
  type ProtocolConfig,
  type Requisition,
  stepsOf,
} from '@measurement-exchange/contract';
import { longDuration } from '../../../format.ts';
import type { Lane, StageCell } from '../../../parts/Lanes.tsx';
import { listed, type NameOf } from '../../../parts/names.ts';
import { stageWords } from '../../../parts/stageWords.ts';

export interface StageWork {
  attempt: number;
  /** The completed share of the stage, from 0 to 1. Undefined if the duchy does not report progress. */
  share: number | undefined;
  isDone: boolean;
  sinceMs: number;
  /** The estimated remaining time. Undefined if there is too little progress for an estimate. */
  leftMs: number | undefined;
  lastReport: Progress;
}

export function workOf(
  reports: readonly Progress[],
  duchy: string,
  stage: string,
  now: number,
): StageWork | undefined {
  const own = reports.filter((report) => report.duchy === duchy && report.stage === stage);
  const last = own.at(-1);
  if (last === undefined) return undefined;
  const first = own.find(({ attempt }) => attempt === last.attempt)!;
  const isDone = last.progress === 1;
  const start = Date.parse(first.time);
  const share = last.progress;
  const worked = Date.parse(last.time) - start;
  const isEstimable = !isDone && share !== undefined && share - (first.progress ?? 0) >= 0.05;
  return {
    attempt: last.attempt,
    share,
    isDone,
    sinceMs: (isDone ? Date.parse(last.time) : now) - start,
    leftMs: isEstimable ? (worked * (1 - share)) / (share - (first.progress ?? 0)) : undefined,
    lastReport: last,
  };
}

export function nextStage(
  protocolConfig: ProtocolConfig,
  reports: readonly Progress[],
  duchy: string,
  now: number,
): string | undefined {
  return stepsOf(protocolConfig).find(
    (step) => step.duchy === duchy && !workOf(reports, duchy, step.stage, now)?.isDone,
  )?.stage;
}

export interface Computation {
  protocolConfig: ProtocolConfig;
  state: string;
  requisitions: readonly Requisition[];
  reports: readonly Progress[];
  waitsFor: readonly string[];
}

export function lanesOf(
  computation: Computation,
  nameOf: NameOf,
  now: number,
): { stages: string[]; lanes: Lane[] } | undefined {
  const steps = stepsOf(computation.protocolConfig);
  if (steps.length === 0) return undefined;
  const stages = [...new Set(steps.map(({ stage }) => stage))];
  const duchies = [...new Set(steps.map(({ duchy }) => duchy))];
  const aggregator = steps.at(-1)!.duchy;
  const receivers = computation.requisitions.map(({ fulfillingDuchy }) => fulfillingDuchy);
  const isReceiver = (duchy: string) => receivers.includes(undefined) || receivers.includes(duchy);
  const lanes = duchies.map((duchy) => {
    const own = steps.filter((step) => step.duchy === duchy).map(({ stage }) => stage);
    return {
      duchy: nameOf(duchy),
      role: duchy === aggregator ? 'signs the result' : isReceiver(duchy) ? 'receives data' : 'computes',
      cells: [
        receiveCell(computation, duchy),
        ...stages.map((stage) =>
          own.includes(stage) ? stageCell(computation, duchy, own, stage, nameOf, now) : NOT_ITS_PART,
        ),
      ],
    };
  });
  return { stages: ['Receive', ...stages.map((stage) => stageWords(stage).stage)], lanes };
}

const NOT_ITS_PART: StageCell = { state: 'none', title: 'Not its part' };

function receiveCell({ requisitions, state }: Computation, duchy: string): StageCell {
  if (requisitions.every(({ fulfillingDuchy }) => fulfillingDuchy === undefined)) {
    return { state: 'waits', title: 'Waits', detail: 'for the keys of all duchies' };
  }
  const own = requisitions.filter(({ fulfillingDuchy }) => fulfillingDuchy === duchy);
  if (own.length === 0) return NOT_ITS_PART;
  const received = own.filter((requisition) => requisition.state === 'FULFILLED').length;
  const title = `${received} of ${own.length}`;
  if (received === own.length) return { state: 'done', title };
  return { state: state === 'AWAITING_REQUISITION_FULFILLMENT' ? 'running' : 'waits', title };
}

function stageCell(
  { protocolConfig, reports, state, waitsFor }: Computation,
  duchy: string,
  own: string[],
  stage: string,
  nameOf: NameOf,
  now: number,
): StageCell {
  const work = workOf(reports, duchy, stage, now);
  const isPast = own
    .slice(own.indexOf(stage) + 1)
    .some((later) => workOf(reports, duchy, later, now) !== undefined);
  const tries = work && work.attempt > 1 ? `${work.attempt} tries` : undefined;
  if (work?.isDone || isPast || state === 'SUCCEEDED') {
    const took = work && work.sinceMs >= 100 ? longDuration(work.sinceMs) : undefined;
    return { state: 'done', title: 'Done', detail: [took, tries].filter(Boolean).join(', ') };
  }
  if (state === 'FAILED' || state === 'CANCELLED') {
    return work
      ? { state: 'failed', title: 'Stopped', ...(tries && { detail: tries }) }
      : { state: 'waits', title: 'Not reached' };
  }
  if (state === 'AWAITING_REQUISITION_FULFILLMENT') {
    return { state: 'waits', title: 'Waits', detail: 'for the publishers' };
  }
  if (work === undefined) {
    const others = waitsFor.filter((party) => party !== duchy).map(nameOf);
    const isNext = waitsFor.includes(duchy);
    if (state === 'COMPUTING' && isNext && nextStage(protocolConfig, reports, duchy, now) === stage) {
      return { state: 'running', title: 'Running' };
    }
    return {
      state: 'waits',
      title: isNext || others.length === 0 ? 'Waits' : `Waits for ${listed(others.slice(0, 2))}`,
    };
  }
  const share = work.share === undefined ? '' : `, ${Math.floor(work.share * 100)} %`;
  const since = `since ${longDuration(work.sinceMs)}`;
  const ordinal = work.attempt > 1 ? `, attempt ${work.attempt}` : '';
  const isFailing = work.attempt >= 3;
  return { state: isFailing ? 'failed' : 'running', title: `Running${share}`, detail: `${since}${ordinal}` };
}
