/** Describes the history of a measurement. */
import {
  PROGRESS_CODES,
  type Progress,
  type Requisition,
  type Timeline,
} from '@measurement-exchange/contract';
import { counted, longDuration } from '../../../format.ts';
import { listed, type NameOf } from '../../../parts/names.ts';
import { stageWords } from '../../../parts/stageWords.ts';

export interface Moment {
  time: string;
  tone: 'done' | 'bad' | 'wait';
  /** The names of the parties that acted. Empty if `text` is about the measurement. */
  who: string;
  /** A sentence about the event, or only its predicate if `who` contains the subject. */
  text: string;
  detail?: string | undefined;
}

type Transition = Timeline['transitions'][number];
type Words = Pick<Moment, 'tone' | 'text'>;

const MEASUREMENT: Record<string, Words> = {
  allFulfilled: { tone: 'done', text: 'All publishers have answered' },
  computed: { tone: 'done', text: 'Succeeded' },
  refused: { tone: 'bad', text: 'Failed, because a publisher refused' },
  cancelled: { tone: 'done', text: 'You canceled it' },
  expired: { tone: 'bad', text: 'Canceled by the exchange, because it waited for too long' },
  certificateRevoked: { tone: 'bad', text: 'Failed, because a certificate was revoked' },
  participantFailed: { tone: 'bad', text: 'Failed, because a duchy gave up' },
  overdue: { tone: 'bad', text: 'Failed, because a deadline passed' },
};

const REQUEST: Record<string, Words> = {
  fulfilled: { tone: 'done', text: 'answered' },
  refused: { tone: 'bad', text: 'refused' },
  deferred: { tone: 'wait', text: 'deferred the request' },
};

const DUCHY: Record<string, Words> = {
  parametersSet: { tone: 'done', text: 'made keys' },
  keysSet: { tone: 'done', text: 'made keys' },
  confirmed: { tone: 'done', text: 'received all data' },
  failed: { tone: 'bad', text: 'gave up' },
};

export function momentsOf(
  { transitions, progress = [] }: Timeline,
  requisitions: readonly Requisition[],
  nameOf: NameOf,
): Moment[] {
  const moments = [
    ...transitions.flatMap((transition) => momentOf(transition, requisitions, nameOf)),
    ...progress.flatMap((report) => reportMoment(report, nameOf)),
  ].sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
  return withPauses(together(moments));
}

function momentOf(
  { resource, time, cause, findings = [] }: Transition,
  requisitions: readonly Requisition[],
  nameOf: NameOf,
): Moment[] {
  const detail = findings.map(({ message }) => message).join(' ') || undefined;
  const of = (words: Words | undefined, who = ''): Moment[] =>
    words ? [{ time, who, ...words, detail }] : [];
  const collection = resource.split('/').at(-2);
  if (collection === 'measurements') {
    const asked = `You asked ${counted(requisitions.length, 'publisher')}`;
    return of(cause === 'created' ? { tone: 'done', text: asked } : MEASUREMENT[cause]);
  }
  if (collection === 'requisitions') {
    const publisher = requisitions.find(({ name }) => name === resource)?.dataProvider;
    return publisher === undefined ? [] : of(REQUEST[cause], nameOf(publisher));
  }
  const duchy = resource.split('/').slice(0, 2).join('/');
  return of(DUCHY[cause], nameOf(duchy));
}

/**
 * The timeline omits a duchy's report that one of these stages is done. A transition in the timeline already says that
 * the duchy made keys or received all data.
 */
const SAID: ReadonlySet<string> = new Set(['INITIALIZED', 'INITIALIZATION_PHASE', 'CONFIRMATION_PHASE']);

/** Describes a finished stage or a problem. The table of stages shows all other progress. */
function reportMoment(
  { duchy, stage, attempt, time, message, progress }: Progress,
  nameOf: NameOf,
): Moment[] {
  const { doing, done } = stageWords(stage);
  const who = nameOf(duchy);
  if (progress === 1 && SAID.has(stage)) return [];
  if (progress === 1) return [{ time, tone: 'done', who, text: done }];
  if (message === PROGRESS_CODES.RUNNING) return [];
  if (message.startsWith(PROGRESS_CODES.RETRIED)) {
    const detail = `Attempt ${attempt}; tried again`;
    return [{ time, tone: 'bad', who, text: `failed while ${doing}`, detail }];
  }
  return [{ time, tone: 'wait', who, text: `waits while ${doing}`, detail: message }];
}

const TOGETHER_MS = 5000;

/**
 * Merges consecutive `done` moments of several parties if they have equal texts and no details, and each moment follows
 * the previous one within TOGETHER_MS. For example: `Alpha, Beta and Gamma made keys`.
 */
function together(moments: Moment[]): Moment[] {
  const groups: Moment[][] = [];
  for (const moment of moments) {
    const last = groups.at(-1)?.at(-1);
    const isSame =
      last?.text === moment.text &&
      moment.tone === 'done' &&
      moment.who !== '' &&
      last.detail === undefined &&
      moment.detail === undefined &&
      Date.parse(moment.time) - Date.parse(last.time) < TOGETHER_MS;
    if (isSame) groups.at(-1)!.push(moment);
    else groups.push([moment]);
  }
  return groups.map((group) => ({
    ...group[0]!,
    time: group.at(-1)!.time,
    who: listed([...new Set(group.map(({ who }) => who))].sort()),
  }));
}

function withPauses(moments: Moment[]): Moment[] {
  return moments.map((moment, i) => {
    const before = moments[i - 1];
    if (before === undefined || moment.detail !== undefined) return moment;
    const ms = Date.parse(moment.time) - Date.parse(before.time);
    return ms < 1000 ? moment : { ...moment, detail: `+ ${longDuration(ms)}` };
  });
}

export const problemsOf = (moments: readonly Moment[]) => moments.filter(({ tone }) => tone !== 'done');
