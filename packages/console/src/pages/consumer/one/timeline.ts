/** The history of a measurement, in words. */
import {
  PROGRESS_CODES,
  type Progress,
  type Requisition,
  type Timeline,
} from '@measurement-exchange/contract';
import { counted, longDuration } from '../../../parts/format.ts';
import type { NameOf } from '../../../parts/names.ts';
import { stageWords } from './stages.ts';

export interface Moment {
  time: string;
  tone: 'done' | 'bad' | 'wait';
  text: string;
  detail?: string | undefined;
}

type Transition = Timeline['transitions'][number];

const MEASUREMENT: Record<string, Pick<Moment, 'tone' | 'text'>> = {
  allFulfilled: { tone: 'done', text: 'All publishers have answered' },
  computed: { tone: 'done', text: 'Succeeded' },
  refused: { tone: 'bad', text: 'Failed, because a publisher refused' },
  cancelled: { tone: 'done', text: 'You canceled it' },
  expired: { tone: 'bad', text: 'Canceled by the exchange, because it waited for too long' },
  certificateRevoked: { tone: 'bad', text: 'Failed, because a certificate was revoked' },
  participantFailed: { tone: 'bad', text: 'Failed, because a duchy gave up' },
  overdue: { tone: 'bad', text: 'Failed, because a deadline passed' },
};

const REQUEST: Record<string, { tone: Moment['tone']; text: (who: string) => string }> = {
  fulfilled: { tone: 'done', text: (who) => `${who} answered` },
  refused: { tone: 'bad', text: (who) => `${who} refused` },
  deferred: { tone: 'wait', text: (who) => `${who} deferred the request` },
};

const DUCHY: Record<string, { tone: Moment['tone']; text: (who: string) => string }> = {
  parametersSet: { tone: 'done', text: (who) => `${who} set up its keys` },
  keysSet: { tone: 'done', text: (who) => `${who} set up its keys` },
  confirmed: { tone: 'done', text: (who) => `${who} has all data` },
  failed: { tone: 'bad', text: (who) => `${who} gave up` },
};

/** Returns what happened, oldest first. */
export function momentsOf(
  { transitions, progress = [] }: Timeline,
  requisitions: readonly Requisition[],
  nameOf: NameOf,
): Moment[] {
  const moments = [
    ...transitions.flatMap((transition) => momentOf(transition, requisitions, nameOf)),
    ...progress.flatMap((report) => reportMoment(report, nameOf)),
  ].sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
  return withPauses(moments);
}

function momentOf(
  { resource, time, cause, findings = [] }: Transition,
  requisitions: readonly Requisition[],
  nameOf: NameOf,
): Moment[] {
  const detail = findings.map(({ message }) => message).join(' ') || undefined;
  const collection = resource.split('/').at(-2);
  if (collection === 'measurements') {
    const asked = counted(requisitions.length, 'publisher');
    const words =
      cause === 'created' ? { tone: 'done' as const, text: `You asked ${asked}` } : MEASUREMENT[cause];
    return words ? [{ time, ...words, detail }] : [];
  }
  if (collection === 'requisitions') {
    const requisition = requisitions.find(({ name }) => name === resource);
    const words = REQUEST[cause];
    if (words === undefined || requisition?.dataProvider === undefined) return [];
    const { tone, text } = words;
    return [{ time, tone, text: text(nameOf(requisition.dataProvider)), detail }];
  }
  const words = DUCHY[cause];
  return words ? [{ time, tone: words.tone, text: words.text(nameOf(duchyOf(resource))), detail }] : [];
}

const duchyOf = (computation: string) => computation.split('/').slice(0, 2).join('/');

/** A report of a duchy: a stage that is done, or a problem. Mere progress is shown in the lanes. */
function reportMoment(
  { duchy, stage, attempt, time, message, progress }: Progress,
  nameOf: NameOf,
): Moment[] {
  const { doing, done } = stageWords(stage);
  const who = nameOf(duchy);
  if (progress === 1) return [{ time, tone: 'done', text: `${who} has ${done}` }];
  if (message === PROGRESS_CODES.RUNNING) return [];
  if (message.startsWith(PROGRESS_CODES.RETRIED)) {
    return [
      { time, tone: 'bad', text: `${who} failed while ${doing}`, detail: `Attempt ${attempt}; tried again` },
    ];
  }
  return [{ time, tone: 'wait', text: `${who} waits while ${doing}`, detail: message }];
}

/** Adds the time since the moment before. */
function withPauses(moments: Moment[]): Moment[] {
  return moments.map((moment, i) => {
    const before = moments[i - 1];
    if (before === undefined || moment.detail !== undefined) return moment;
    const ms = Date.parse(moment.time) - Date.parse(before.time);
    return ms < 1000 ? moment : { ...moment, detail: `+ ${longDuration(ms)}` };
  });
}

/** Moments that somebody may want to look into. */
export const problemsOf = (moments: readonly Moment[]) => moments.filter(({ tone }) => tone !== 'done');
