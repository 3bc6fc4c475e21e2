/** The deadlines of computations, and failure messages that name the late parties. */
import { type LogRequest, type ProtocolStep, stepsOf, type Timestamp } from '@measurement-exchange/contract';
import { number, object, type Static } from '@measurement-exchange/contract/schema';
import type { Change, Outline } from './aggregate.ts';
import { fail } from './measurement.ts';
import { hasConfirmation, unconfirmed } from './participants.ts';
import { viewProtocol } from './protocolConfig.ts';

const hours = () => number({ exclusiveMinimum: 0 });

export const Deadlines = object({
  /** The duchies must set their parameters within this time after the creation of the measurement. */
  parametersWithinHours: hours(),
  /** The providers must send their data to the duchies within this time after the creation of the measurement. */
  fulfillWithinHours: hours(),
  /**
   * The first confirmation must arrive within this time after the last fulfillment. Each later confirmation must arrive
   * within this time after the previous confirmation. Share-shuffle has no confirmations.
   */
  confirmWithinHours: hours(),
  /**
   * The duchies must produce the result within this time after the last confirmation. In share-shuffle, this time
   * starts at the last fulfillment.
   */
  computeWithinHours: hours(),
});
export type Deadlines = Static<typeof Deadlines>;

export const WAITING = {
  PENDING_PARAMS: 'parametersWithinHours',
  PENDING_FULFILLMENT: 'fulfillWithinHours',
  PENDING_CONFIRMATION: 'confirmWithinHours',
  COMPUTING: 'computeWithinHours',
} as const satisfies Record<string, keyof Deadlines>;
export type WaitingState = keyof typeof WAITING;

export interface Report extends Pick<LogRequest, 'stage' | 'attempt' | 'progress'> {
  duchy: string;
}

export function expireComputation<A extends Outline>(
  before: A,
  state: WaitingState,
  reports: Report[],
  deadlines: Deadlines,
  now: Timestamp,
): Change<A> {
  const within = `within ${duration(deadlines[WAITING[state]])}`;
  return fail(before, 'overdue', MESSAGES[state](before, within, reports), now);
}

const MESSAGES: Record<WaitingState, (before: Outline, within: string, reports: Report[]) => string> = {
  PENDING_PARAMS({ participants }, within) {
    const late = participants.filter((p) => p.parameters === undefined).map((p) => p.duchy);
    return `${late.join(', ')} set no parameters ${within} of the creation.`;
  },
  PENDING_FULFILLMENT({ requisitions }, within) {
    const late = requisitions
      .filter((r) => r.state === 'UNFULFILLED')
      .map((r) => `${r.provider} (to ${r.fulfillingDuchy})`);
    return `No data came from ${listed(late)} ${within} of the creation.`;
  },
  PENDING_CONFIRMATION(before, within) {
    const late = unconfirmed(before).join(', ');
    return `${late} did not confirm ${within} of the last fulfillment or confirmation.`;
  },
  COMPUTING(before, within, reports) {
    const start = hasConfirmation(before.measurement) ? 'confirmation' : 'fulfillment';
    const late = behind(before, reports).map((duchy) => {
      const report = reports.find((r) => r.duchy === duchy);
      if (report === undefined) return `${duchy}, which reported nothing`;
      const { stage, attempt, progress } = report;
      return `${duchy}, whose last report is ${stage}, attempt ${attempt}, ${progress === 1 ? 'done' : 'not done'}`;
    });
    return `No result came ${within} of the last ${start}: it waited for ${late.join('; ')}.`;
  },
};

/** Returns the duchies with the earliest unfinished step. All other duchies wait for them. */
export function behind(aggregate: Outline, reports: Report[]): string[] {
  const open = openSteps(aggregate, reports);
  const first = Math.min(...open.map(({ step }) => step));
  return open.filter(({ step }) => step === first).map(({ duchy }) => duchy);
}

/** Returns each duchy's first unfinished step according to its report. Omits duchies that have finished all steps. */
export function openSteps(
  { measurement, participants }: Outline,
  reports: Report[],
): { duchy: string; step: number }[] {
  const steps = stepsOf(viewProtocol(measurement));
  const open = participants.map(({ duchy }) => ({
    duchy,
    step: openStep(
      steps.filter((step) => step.duchy === duchy),
      reports.find((report) => report.duchy === duchy),
      // Pass the protocol's last step, which sets the result. This step is unfinished, because there is no result yet.
      steps.at(-1)!,
    ),
  }));
  return open.filter(({ step }) => step !== Number.POSITIVE_INFINITY);
}

/**
 * Returns the number of the first unfinished step in `own`, the steps of a duchy. Returns infinity if all of them are
 * finished. The protocol's `last` step always counts as unfinished.
 */
function openStep(own: ProtocolStep[], report: Report | undefined, last: ProtocolStep): number {
  const reported = own.findIndex(({ stage }) => stage === report?.stage);
  const open = report?.progress === 1 ? reported + 1 : Math.max(0, reported);
  return own[open]?.step ?? (own.includes(last) ? last.step : Number.POSITIVE_INFINITY);
}

/** The maximum number of providers that a message names. A measurement may have a hundred providers. */
const MAX_LISTED = 10;

function listed(names: string[]): string {
  const more = names.length - MAX_LISTED;
  return names.slice(0, MAX_LISTED).join(', ') + (more > 0 ? ` and ${more} others` : '');
}

function duration(hours: number): string {
  return hours % 24 === 0 && hours > 24 ? `${hours / 24} days` : `${hours} h`;
}
