/** Converts a report to one HTML file, which works offline and on phones, and can be printed. */
import {
  type Bar,
  bandChart,
  barChart,
  type Chart,
  escapeText,
  groupChart,
  IMPRESSIONS,
  kPlusChart,
  PEOPLE,
  seriesAt,
  toText,
  upsetChart,
} from '@measurement-exchange/console/charts';
import {
  type DerivedFigure,
  type DocumentFigure,
  type DocumentValue,
  groupText,
  type ReportDocument,
} from '@measurement-exchange/reports';
import { count } from '../terminal/numbers.ts';
import { dayText, metricWord, periodText, textFor } from './labels.ts';
import { style } from './style.ts';

export function renderReport(document: ReportDocument): string {
  const { title, interval } = document;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escapeText(title)}</title>
<style>${style()}</style>
<main>
<h1>${escapeText(title)}</h1>
<p>${escapeText(`${interval.start} to ${interval.end} (${interval.timeZone}). ${stateText(document)}`)}</p>
${reportCharts(document)}
${section('Missing', missing(document))}
${section('Every figure', table(document))}
</main>
</html>
`;
}

/** Returns the sections with charts. Sections without figures are left out. */
export function reportCharts(document: ReportDocument): string {
  return `${section('Reach', totals(document))}
${section('Overlap: people of exactly these segments', overlaps(document))}
${section('What each segment adds', increments(document))}
${section('Reach over time', curves(document))}
${section('Groups of people', groups(document))}
${section('How often people were reached', frequencies(document))}
${section('Impressions', impressions(document))}`;
}

export function stateText({ state, fits }: ReportDocument): string {
  const [worst] = fits;
  if (worst?.state === 'INCONSISTENT') {
    const whose = worst.suspect ? ` Most likely at fault: ${worst.suspect.dataProviders.join(', ')}.` : '';
    return `INCONSISTENT: the answers contradict each other (p = ${worst.p.toPrecision(2)}).${whose}`;
  }
  const agree = worst ? ` The answers agree with each other (worst fit: p = ${worst.p.toPrecision(2)}).` : '';
  return state === 'COMPLETE' ? `Complete.${agree}` : `${state}: figures are missing, see below.${agree}`;
}

/** Returns the section as HTML, or an empty string if the section has no content. */
function section(title: string, content: string): string {
  return content === '' ? '' : `<section><h2>${title}</h2>${content}</section>`;
}

function figureOf({ title, drawing }: Chart): string {
  return `<figure><figcaption>${escapeText(title)}</figcaption>${toText(drawing)}</figure>`;
}

const charts = (all: Chart[]) =>
  all.length === 0 ? '' : `<div class="charts">${all.map(figureOf).join('')}</div>`;
const shown = ({ value, low, high }: DocumentValue) => ({ value, interval: [low, high] as const });
const isEverybody = ({ group }: Pick<DocumentFigure, 'group'>) => groupText(group) === '';

type Measured = DocumentFigure & { estimate: NonNullable<DocumentFigure['estimate']> };

function measured({ figures }: ReportDocument, metrics: DocumentFigure['metric'][]): Measured[] {
  return figures.filter(
    (figure): figure is Measured => metrics.includes(figure.metric) && figure.estimate !== undefined,
  );
}

function barOf({ of, estimate }: Measured, segments: string[]): Bar {
  const index = segments.indexOf(of);
  return {
    label: of,
    ...shown(estimate),
    ...(index >= 0 && { series: seriesAt(index) }),
    ...(estimate.noiseDominated && { look: 'striped', sub: 'mostly noise' }),
  };
}

function totals(document: ReportDocument): string {
  const all = measured(document, ['reach', 'frequency']).filter(
    (figure) => !figure.cumulative && isEverybody(figure),
  );
  const periods = Map.groupBy(all, ({ period }) => periodText(period));
  return charts(
    [...periods].map(([period, figures]) => {
      const once = [...Map.groupBy(figures, ({ of }) => of).values()].map(([figure]) => figure!);
      return barChart(
        `People reached, ${period}`,
        PEOPLE,
        once.map((figure) => barOf(figure, document.segments)),
      );
    }),
  );
}

/** Returns the derived figures with this name, in one block for each period and group. */
function derivedBlocks(
  { derived }: ReportDocument,
  name: DerivedFigure['name'],
): [title: string, figures: DerivedFigure[]][] {
  const own = derived.filter((figure) => figure.name === name);
  const title = ({ period, group }: DerivedFigure) =>
    [periodText(period), groupText(group)].filter((part) => part !== '').join(', ');
  return [...Map.groupBy(own, title)];
}

function overlaps(document: ReportDocument): string {
  const { segments } = document;
  return charts(
    derivedBlocks(document, 'overlap')
      .filter(([, figures]) => figures.length > 1)
      .map(([title, figures]) =>
        upsetChart(
          `Each person is in one row, ${title}`,
          segments,
          figures.map(({ of, value }) => ({
            ...{ members: of.split(' & ').map((name) => segments.indexOf(name)), ...shown(value) },
          })),
        ),
      ),
  );
}

function increments(document: ReportDocument): string {
  const { segments } = document;
  return charts(
    derivedBlocks(document, 'incremental reach')
      .filter(([, figures]) => figures.length > 1)
      .map(([title, figures]) =>
        barChart(
          `People that no segment above reached, ${title}`,
          PEOPLE,
          figures.map(({ of, value }) => ({
            ...{ label: of, series: seriesAt(segments.indexOf(of)), ...shown(value) },
          })),
        ),
      ),
  );
}

function curves(document: ReportDocument): string {
  const all = measured(document, ['reach']).filter(({ cumulative }) => cumulative);
  const sets = Map.groupBy(all, ({ of, group }) => [of, groupText(group)].filter((part) => part).join(', '));
  return charts(
    [...sets].map(([title, figures]) =>
      bandChart(
        `People that ${title} reached since ${dayText(figures[0]!.period.start)}`,
        PEOPLE,
        figures.map(({ period, estimate }) => ({ label: dayText(period.end), ...shown(estimate) })),
      ),
    ),
  );
}

function groups(document: ReportDocument): string {
  const all = measured(document, ['reach', 'frequency']).filter(
    (figure) => !figure.cumulative && !isEverybody(figure),
  );
  return charts(
    [...Map.groupBy(all, ({ period }) => periodText(period))].map(([period, figures]) => {
      const sets = [...new Set(figures.map(({ of }) => of))];
      const rows = Map.groupBy(figures, ({ group }) => groupText(group));
      return groupChart(
        `People reached, by group, ${period}`,
        PEOPLE,
        sets,
        [...rows].map(([label, own]) => ({
          label,
          figures: sets.map((of) => {
            const found = own.find((figure) => figure.of === of);
            return found && shown(found.estimate);
          }),
        })),
      );
    }),
  );
}

function frequencies(document: ReportDocument): string {
  return charts(
    measured(document, ['frequency']).map(({ of, period, group, frequencies = [] }) => {
      const title = [`${of}: people reached at least so often`, periodText(period), groupText(group)];
      return kPlusChart(
        title.filter((part) => part !== '').join(', '),
        frequencies.map(({ orMore }) => shown(orMore)),
      );
    }),
  );
}

function impressions(document: ReportDocument): string {
  const all = measured(document, ['impressions']).filter(isEverybody);
  return charts(
    [...Map.groupBy(all, ({ period }) => periodText(period))].map(([period, figures]) =>
      barChart(
        `Impressions, ${period}`,
        IMPRESSIONS,
        figures.map((figure) => barOf(figure, document.segments)),
      ),
    ),
  );
}

function missing({ figures }: ReportDocument): string {
  const reasons = figures.flatMap(({ missing }) =>
    missing.map(({ measurement, state, reason }) =>
      [measurement, state, reason].filter((part) => part !== undefined).join(': '),
    ),
  );
  if (reasons.length === 0) return '';
  return `<ul>${[...new Set(reasons)].map((reason) => `<li>${escapeText(reason)}`).join('')}</ul>`;
}

const COLUMNS = ['figure', 'of', 'period', 'corrected', '95 % interval', 'as measured'];
const FIRST_NUMBER = 3;

function table({ figures, derived }: ReportDocument): string {
  const rows = [
    ...figures.map(({ metric, cumulative, of, period, group, estimate }) => [
      ...[`${cumulative ? 'cumulative ' : ''}${metricWord(metric)}`, setText(of, group), periodText(period)],
      ...(estimate
        ? [...numbers(estimate, count), noted(count(estimate.raw), estimate)]
        : ['missing', '', '']),
    ]),
    ...derived.map(({ name, of, period, group, value, noiseDominated = false }) => [
      ...[name, setText(of, group), periodText(period), ...numbers(value, textFor(name, value))],
      noted('', { noiseDominated }),
    ]),
  ];
  const headings = COLUMNS.map((heading) => `<th>${heading}`).join('');
  return `<div class="wide"><table><thead><tr>${headings}</thead><tbody>${rows.map(row).join('')}</tbody></table></div>`;
}

const setText = (of: string, group: DocumentFigure['group']) =>
  [of, groupText(group)].filter((part) => part !== '').join(', ');
const noted = (text: string, { noiseDominated }: { noiseDominated: boolean }) =>
  noiseDominated ? `${text} mostly noise`.trim() : text;

function numbers({ value, low, high }: DocumentValue, text: (value: number) => string): string[] {
  return [text(value), `${text(low)} … ${text(high)}`];
}

function row(cells: string[]): string {
  // Label each cell with its heading, because phones show the label next to the cell and hide the row of headings.
  const tds = cells.map(
    (cell, i) =>
      `<td data-label="${COLUMNS[i]}" class="${i >= FIRST_NUMBER ? 'n' : ''}">${escapeText(cell)}</td>`,
  );
  return `<tr>${tds.join('')}</tr>`;
}
