/** Explains to the consumer why a measurement waits. */
import type {
  Explanation,
  Progress,
  ProtocolConfig,
  Requisition,
  Wait,
  WaitCode,
} from '@measurement-exchange/contract';
import { ago, duration, longMoment } from '../../../format.ts';
import type { ChipTone } from '../../../parts/Chip.tsx';
import type { IconName } from '../../../parts/Icon.tsx';
import { inWords, listed, type NameOf } from '../../../parts/names.ts';
import { stageWords } from '../../../parts/stageWords.ts';
import { nextStage, workOf } from './stages.ts';

export interface Why {
  tone: Exclude<ChipTone, undefined>;
  icon: IconName;
  chip: string;
  title: string;
  text: string;
  /** A quotation of the publisher's own text. */
  quote?: string;
  todo: string;
  lastSeen?: string;
  deadline?: string;
  /** The progress of a stage, from 0 to 1. */
  share?: number;
  code: string;
}

export interface Circumstances {
  requisitions: readonly Requisition[];
  reports: readonly Progress[];
  /** The protocol of the measurement, which determines the stages of the duchies. */
  protocolConfig?: ProtocolConfig | undefined;
  nameOf: NameOf;
  now: number;
}

const NOTHING = 'Nothing for you to do.';

/** Explains why an open measurement waits. The exchange lists the most severe reason first. */
export function whyItWaits(explanation: Explanation, about: Circumstances): Why | undefined {
  const [wait, ...others] = explanation.waitingFor;
  if (wait === undefined) return undefined;
  const { nameOf, now } = about;
  const who = nameOf(wait.party);
  const more = [...new Set(others.map(({ party }) => party))]
    .filter((party) => party !== wait.party)
    .map(nameOf);
  const words = WORDS[wait.code](wait, who, about);
  const also = more.length > 0 ? ` It waits for ${listed(more.slice(0, 3))} as well.` : '';
  return {
    tone: isCalm(wait, now) ? 'run' : 'warn',
    icon: isCalm(wait, now) ? 'run' : 'clock',
    chip: `Waits for ${who}`,
    ...words,
    text: `${words.text}${also}`,
    lastSeen:
      wait.lastSeen === undefined
        ? `${who} has never been seen`
        : `${who} was last seen ${ago(wait.lastSeen, now)}`,
    ...(explanation.nextDeadline && {
      deadline: `Ends without a result on ${longMoment(explanation.nextDeadline)}`,
    }),
    code: wait.code,
  };
}

const CALM: WaitCode[] = [
  'ASKED',
  'PARAMETERS_MISSING',
  'UPLOAD_MISSING',
  'CONFIRMATION_MISSING',
  'STAGE_RUNNING',
];
/** An upload to a duchy is late after this time. For all other waits, the exchange itself reports a delay. */
const LATE_MS = 10 * 60_000;

/** Returns true if the wait is normal and nobody has to act. */
export function isCalm({ code, since }: Wait, now: number): boolean {
  return CALM.includes(code) && (code !== 'UPLOAD_MISSING' || now - Date.parse(since) < LATE_MS);
}

type Words = Pick<Why, 'title' | 'text' | 'todo'> & Partial<Pick<Why, 'quote' | 'share'>>;

/** Returns a function that combines `title` with the exchange's text about a wait, and inserts display names. */
const told =
  (title: string) =>
  (wait: Wait, _who: string, { nameOf }: Circumstances): Words => ({
    title,
    text: inWords(wait.detail, nameOf),
    todo: inWords(wait.remedy, nameOf),
  });

const titled =
  (title: (who: string) => string) =>
  (wait: Wait, who: string, about: Circumstances): Words =>
    told(title(who))(wait, who, about);

function asked(wait: Wait, who: string, { now }: Circumstances): Words {
  return {
    title: `${who} was asked ${ago(wait.since, now)}`,
    text: 'Publishers usually answer within 10 s.',
    todo: NOTHING,
  };
}

const WORDS: Record<WaitCode, (wait: Wait, who: string, about: Circumstances) => Words> = {
  ASKED: asked,
  UPLOAD_MISSING: (wait, who, about) =>
    wait.party.startsWith('dataProviders/') && isCalm(wait, about.now)
      ? asked(wait, who, about)
      : told(`${who} has not sent its data yet`)(wait, who, about),
  DEFERRED: (wait, who, { requisitions }) => {
    const deferral = requisitions.find(({ dataProvider }) => dataProvider === wait.party)?.deferral;
    if (deferral === undefined) return { title: `${who} deferred the request`, text: '', todo: NOTHING };
    return {
      title: `${who} will have the data on ${longMoment(deferral.until)}`,
      text: `${who} deferred the request and gave its reason.`,
      quote: deferral.reason,
      todo: `${NOTHING} If that is too late, talk to ${who} or cancel the measurement.`,
    };
  },
  STAGE_RUNNING: (wait, who, about) => ({
    ...stageTitle(wait, who, about),
    text: 'All publishers have answered.',
    todo: NOTHING,
  }),
  SILENT: (wait, who, { now }) => ({
    title: `${who} has not answered for ${duration(now - Date.parse(wait.since))}`,
    text: `${who} is connected, but has neither answered nor refused nor deferred the request.`,
    todo: `Ask ${who} why, or cancel the measurement.`,
  }),
  OFFLINE: titled((who) => `${who} is out of reach`),
  NOT_SEEN: titled((who) => `${who} has not been seen since you asked`),
  SUSPENDED: titled((who) => `${who} is suspended`),
  CERTIFICATE_EXPIRED: titled((who) =>
    who === 'You' ? 'Your certificate has expired' : `The certificate of ${who} has expired`,
  ),
  KEY_CHANGED: titled((who) => `${who} has changed its key since you asked`),
  PARAMETERS_MISSING: titled((who) => `${who} makes its keys`),
  CONFIRMATION_MISSING: titled((who) => `${who} checks that it has all data`),
  STAGE_FAILING: titled((who) => `${who} fails again and again`),
  REVOCATION_RUNNING: titled(() => 'A certificate was revoked, so this measurement is going to fail'),
};

/** Returns a title such as `Beta is shuffling: 64 %, about 40 s left`. */
function stageTitle(
  { party }: Wait,
  who: string,
  { reports, protocolConfig = {}, now }: Circumstances,
): Pick<Words, 'title' | 'share'> {
  const stage = nextStage(protocolConfig, reports, party, now);
  if (stage === undefined) return { title: `${who} computes` };
  const { share, leftMs } = workOf(reports, party, stage, now) ?? {};
  const facts = [
    ...(share === undefined ? [] : [`${Math.floor(share * 100)} %`]),
    ...(leftMs === undefined ? [] : [`about ${duration(leftMs)} left`]),
  ];
  const title = `${who} is ${stageWords(stage).doing}${facts.length > 0 ? `: ${facts.join(', ')}` : ''}`;
  return { title, ...(share !== undefined && { share }) };
}
