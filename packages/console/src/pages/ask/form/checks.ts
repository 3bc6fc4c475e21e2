/** The list "Before you send": problems that prevent sending, and warnings. */
import type { Finding } from '@measurement-exchange/contract';
import { CompanionError } from '../../../companion/client.ts';
import { isolated, listed } from '../../../parts/names.ts';
import { unrecordedOf } from '../days/unrecorded.ts';
import { countsPeople } from './form.ts';
import type { Ask } from './useAsk.ts';

export interface Check {
  /** If a check is `bad`, the question cannot be sent. */
  tone: 'ok' | 'warn' | 'bad';
  title: string;
  detail?: string;
  at?: 'groups' | 'days' | 'filter' | 'methods' | 'privacy';
}

export function checksOf(ask: Ask): Check[] {
  const { picked, filterProblem, planned } = ask;
  if (picked.length === 0) return [{ tone: 'bad', title: 'Pick a publisher', at: 'groups' }];
  const { error, isCurrent } = planned;
  return [
    ...(filterProblem ? [filterCheck(ask)] : []),
    ...dayChecks(ask),
    ...(error && isCurrent && !filterProblem ? [errorCheck(error)] : []),
    ...(filterProblem || error ? [] : planChecks(ask)),
  ];
}

/** Values of `error.reason` for errors that say nothing about the question, such as an unreachable exchange. */
const NOT_CHECKED = ['EXCHANGE_UNREACHABLE', 'UNEXPECTED_RESPONSE', 'COMPANION_FAILED', 'UNKNOWN'];

function errorCheck(error: Error): Check {
  const isChecked = error instanceof CompanionError && !NOT_CHECKED.includes(error.reason);
  const title = isChecked ? 'The exchange would not accept it' : 'It could not be checked';
  return { tone: 'bad', title, detail: error.message };
}

export function blockOf(ask: Ask, checks: readonly Check[]): string | undefined {
  const bad = checks.find(({ tone }) => tone === 'bad');
  if (bad) return bad.title;
  return ask.planned.isCurrent && ask.planned.plan ? undefined : 'Being checked';
}

function filterCheck({ filterProblem, publishers }: Ask): Check {
  const { line, column, message, publishers: refusing } = filterProblem!;
  const place = line === undefined ? '' : `Line ${line}, column ${column}. `;
  const labels = publishers
    .filter(({ name }) => refusing?.includes(name))
    .map(({ label }) => isolated(label));
  const title = refusing ? `${listed(labels)} would refuse the filter` : 'Fix the filter';
  return { tone: 'bad', title, detail: `${place}${message}`, at: 'filter' };
}

function dayChecks({ form, publishers, days, now }: Ask): Check[] {
  if (form.type === 'population') return [];
  return unrecordedOf(publishers, days, now).map(({ title, detail }) => ({
    tone: 'warn',
    title,
    detail,
    at: 'days',
  }));
}

/** The codes of findings about the chosen protocol. These findings do not prevent sending. */
const ABOUT_CHOICE = ['REACH_NOT_DEDUPLICATED', 'PROTOCOL_NOT_USED'];

function planChecks({ form, publishers, planned: { plan } }: Ask): Check[] {
  if (plan === undefined) return [];
  const { rejection, findings, warnings, duchies } = plan;
  const isChoice = ({ code }: Finding) => ABOUT_CHOICE.includes(code);
  const wantedAlone = form.protocol === 'direct';
  const isTogether = countsPeople(form.type) && publishers.length > 1;
  return [
    ...(rejection ? [rejectionCheck(rejection)] : []),
    ...findings
      .filter((finding) => !isChoice(finding))
      .map(({ message, remedy }): Check => ({ tone: 'bad', title: message, detail: remedy })),
    ...findings
      .filter((finding) => isChoice(finding) && !wantedAlone)
      .map(({ message, remedy }): Check => ({ tone: 'warn', title: message, detail: remedy, at: 'methods' })),
    ...warnings.map((title): Check => ({ tone: 'warn', title, at: 'privacy' })),
    ...(isTogether && duchies.length > 0
      ? [{ tone: 'ok', title: 'Each person counts once', detail: 'across the publishers' } as const]
      : []),
    { tone: 'ok', title: 'Keys and certificates', detail: `valid for ${publisherCount(publishers.length)}` },
  ];
}

function rejectionCheck({ message, duchies }: { message: string; duchies: string[] }): Check {
  const title = duchies.length > 0 ? 'You do not accept its duchies' : 'You would not accept its result';
  return { tone: 'bad', title, detail: message, at: 'methods' };
}

export const publisherCount = (count: number) => (count === 1 ? '1 publisher' : `${count} publishers`);
