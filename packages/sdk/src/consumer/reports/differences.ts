/** Compares the figures of two documents of the same report. */
import type { DocumentFigure, ReportDocument } from '@measurement-exchange/reports';

export interface FigureDifference {
  /** The name of the figure, such as `reach of all, 2026-07-01T00:00:00Z to 2026-08-01T00:00:00Z`. */
  figure: string;
  /** The figure in each of the two documents, as text. Absent if that document does not have the figure. */
  stored?: string;
  computed?: string;
}

export function differencesOf(stored: ReportDocument, computed: ReportDocument): FigureDifference[] {
  const [before, after] = [textsOf(stored), textsOf(computed)];
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((figure) => {
    const [was, is] = [before.get(figure), after.get(figure)];
    if (was === is) return [];
    return [{ figure, ...(was !== undefined && { stored: was }), ...(is !== undefined && { computed: is }) }];
  });
}

function textsOf({ figures }: ReportDocument): Map<string, string> {
  return new Map(figures.flatMap((figure) => [...numbersOf(figure)]));
}

function* numbersOf(figure: DocumentFigure): Generator<[string, string]> {
  const { metric, of, period, group, cumulative, estimate, frequencies = [] } = figure;
  const people = Object.entries(group).map(([attribute, value]) => `${attribute} ${value}`);
  const name = [
    `${cumulative ? 'cumulative ' : ''}${metric} of ${of}`,
    `${period.start} to ${period.end}`,
    ...people,
  ].join(', ');
  yield [name, estimate === undefined ? 'missing' : rounded(estimate)];
  for (const { frequency, people, orMore } of frequencies) {
    yield [`${name}, ${frequency} times`, rounded(people)];
    yield [`${name}, ${frequency} times or more`, rounded(orMore)];
  }
}

/** Formats a number and its interval. Rounds the interval to tenths, because its last digits vary by processor. */
function rounded({ value, low, high }: { value: number; low: number; high: number }): string {
  return `${value} (95 %: ${low.toFixed(1)} to ${high.toFixed(1)})`;
}
