/**
 * Findings to read before the figures of a report: contradictions, missing answers, and figures that are too small to
 * tell from noise.
 */

import { PEOPLE } from '../charts/index.ts';
import { count, intervalText, percent } from '../format.ts';
import type { NeedView, ReportView } from './types.ts';
import { figureWords, type Label, needWords } from './words.ts';

export interface Finding {
  kind: 'inconsistent' | 'missing' | 'noise';
  title: string;
  detail: string;
  /** The measurement that the finding is about. */
  measurement?: string;
}

/** The maximum number of figures that a finding lists. */
const NAMED = 3;

export function findingsOf(
  view: ReportView,
  labels: readonly Label[],
  nameOf: (party: string) => string,
): Finding[] {
  return [...contradictions(view, labels, nameOf), ...missing(view, labels), ...noise(view, labels)];
}

function contradictions(
  view: ReportView,
  labels: readonly Label[],
  nameOf: (party: string) => string,
): Finding[] {
  return view.fits.flatMap(({ state, suspect, p }) => {
    if (state !== 'INCONSISTENT') return [];
    const need = view.needs.find(({ key }) => key === suspect?.key);
    const who = suspect ? suspect.dataProviders.map(nameOf).join(', ') : '';
    const chance = p < 1e-6 ? 'less than one in a million' : percent(p, 4);
    const alone =
      suspect?.dataProviders.length === 1
        ? `${who} does not fit the others`
        : `The answers of ${who} do not fit together`;
    return [
      {
        kind: 'inconsistent' as const,
        title: suspect ? `${alone}.` : 'The answers contradict each other.',
        detail: [
          ...(need
            ? [`Furthest out: ${titleOf(need, view, labels)}, ${Math.abs(suspect!.pull).toFixed(1)} σ away.`]
            : []),
          `If everyone answered honestly, noise would explain this with a chance of ${chance}.`,
          'Both columns are below: as measured, and corrected.',
        ].join(' '),
        ...(need?.measurement && { measurement: need.measurement }),
      },
    ];
  });
}

function missing(view: ReportView, labels: readonly Label[]): Finding[] {
  const keys = new Set(view.figures.flatMap((figure) => figure.missing));
  const figures = view.figures.filter((figure) => figure.missing.length > 0).length;
  return view.needs
    .filter(({ key }) => keys.has(key))
    .map((need) => ({
      kind: 'missing' as const,
      title: `${titleOf(need, view, labels)} has no answer.`,
      detail: `${need.reason ?? 'It is not answered yet.'} ${count(figures)} of ${count(view.figures.length)} figures wait for an answer. The others are shown.`,
      ...(need.measurement && { measurement: need.measurement }),
    }));
}

function noise(view: ReportView, labels: readonly Label[]): Finding[] {
  const small = view.figures.filter(({ isNoiseDominated, value }) => isNoiseDominated && value !== undefined);
  const named = small
    .slice(0, NAMED)
    .map((figure) => `${figureWords(view, labels, figure)} (${intervalText(figure.interval!, PEOPLE)})`);
  if (small.length === 0) return [];
  const more = small.length > NAMED ? `, and ${count(small.length - NAMED)} more` : '';
  return [
    {
      kind: 'noise',
      title:
        small.length === 1
          ? 'One figure is too small to tell from noise.'
          : `${count(small.length)} figures are too small to tell from noise.`,
      detail: `${named.join('; ')}${more}. A larger budget or fewer figures would show them.`,
    },
  ];
}

const titleOf = (need: NeedView, view: ReportView, labels: readonly Label[]) => needWords(view, labels, need);
