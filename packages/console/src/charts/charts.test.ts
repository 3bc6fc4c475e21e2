import { describe, expect, it } from 'vitest';
import {
  addingUpChart,
  bandChart,
  barChart,
  type Chart,
  calendarChart,
  curveChart,
  expectedChart,
  type Figure,
  frequencyChart,
  groupChart,
  incrementChart,
  kPlusChart,
  laneChart,
  miniWhisker,
  type Node,
  PEOPLE,
  previewChart,
  residualChart,
  SHARE,
  seriesAt,
  swatch,
  toCsv,
  toText,
  upsetChart,
  whiskerChart,
} from './index.ts';

const INTERVALS: Record<string, Figure> = {
  usual: { value: 420_731, interval: [420_602, 420_860] },
  'zero width': { value: 210_000, interval: [210_000, 210_000] },
  'zero value': { value: 0, interval: [0, 0] },
  huge: { value: 9e15, interval: [1, 2e16] },
  unbounded: { value: 420_731, interval: [0, Number.POSITIVE_INFINITY] },
  'reaching 0': { value: 42, interval: [0, 407] },
  'negative value': { value: -118, interval: [-520, 284] },
  'no interval': { value: 5 },
};

const HOSTILE = '<img src=x onerror=alert(1)>"\'&\u202e';

/** Returns one chart of each kind, drawn from the figure and the label. */
function chartsOf(figure: Figure, label = 'Streamly'): Chart[] {
  const share = { value: 0.2, interval: [0.1, 0.3] as const };
  return [
    whiskerChart(label, figure, PEOPLE),
    barChart(label, PEOPLE, [
      { ...figure, label, sub: label, truth: 400_000, claimed: 582_656, series: seriesAt(0) },
    ]),
    frequencyChart(label, [share, share]),
    kPlusChart(label, [figure, figure], 1),
    addingUpChart(label, { once: figure, addedUp: 582_656, population: 600_000 }),
    bandChart(label, PEOPLE, [
      { ...figure, label },
      { ...figure, label },
    ]),
    curveChart(label, PEOPLE, [
      { label, points: [{ ...figure, label }] },
      { label, points: [{ ...figure, label }], series: seriesAt(5) },
    ]),
    incrementChart(label, [
      { ...figure, label },
      { ...figure, label },
    ]),
    expectedChart(label, PEOPLE, [
      { label, sub: label, margin: figure.interval && figure.interval[1] - figure.value },
      { label, margin: undefined },
    ]),
    groupChart(label, PEOPLE, [label, label], [{ label, sub: label, figures: [figure, undefined] }]),
    upsetChart(
      label,
      [label, label],
      [
        { ...figure, members: [0] },
        { ...figure, members: [0, 1] },
      ],
    ),
    calendarChart(label, [{ date: '2026-11-18', share: 0.4 }, { date: '2026-11-19' }], label, label),
    previewChart(label, { margin: 129, limit: 1500, unit: PEOPLE }),
    residualChart(label, [{ row: label, label, sigmas: 1.2 }]),
    laneChart(label, [{ label, spans: [{ state: label, from: 0, to: 10 }] }]),
  ];
}

/** Returns all nodes in the tree that have this tag. */
function all(tree: Node | string, tag: string): Node[] {
  if (typeof tree === 'string') return [];
  return [...(tree.tag === tag ? [tree] : []), ...tree.children.flatMap((child) => all(child, tag))];
}

const positions = (tree: Node) =>
  [...all(tree, 'line'), ...all(tree, 'rect'), ...all(tree, 'circle'), ...all(tree, 'svg')]
    .flatMap(({ attributes: { x, x1, x2, cx, width } }) => [x, x1, x2, cx, width])
    .filter((value) => String(value).endsWith('%'))
    .map((value) => Number.parseFloat(String(value)));

describe.each(Object.entries(INTERVALS))('a figure (interval: %s)', (_name, figure) => {
  it.each(chartsOf(figure).map((chart, i) => [i, chart] as const))(
    'is drawn within the bounds of chart %i',
    (_i, chart) => {
      expect(toText(chart.drawing)).not.toMatch(/NaN|Infinity|undefined|null/);
      for (const position of positions(chart.drawing)) {
        expect(position).toBeGreaterThanOrEqual(0);
        expect(position).toBeLessThanOrEqual(100);
      }
      expect(chart.drawing.attributes).toMatchObject({ role: 'img', 'aria-label': chart.finding });
      expect(chart.finding).not.toMatch(/NaN|undefined/);
      for (const row of chart.table.rows) expect(row).toHaveLength(chart.table.columns.length);
    },
  );
});

it('the finding of a chart includes the interval', () => {
  expect(whiskerChart('Reach', INTERVALS.usual!, PEOPLE).finding).toBe(
    'Reach: 420,731, 95 percent interval 420,602 to 420,860',
  );
  expect(whiskerChart('Reach', INTERVALS.unbounded!, PEOPLE).finding).toContain('0 or more');
  expect(addingUpChart('Reach', { once: INTERVALS.usual!, addedUp: 582_656 }).finding).toContain(
    'adding up would claim 582,656, 38 % too many',
  );
});

it('a whisker has an arrow instead of a cap if its interval is unbounded', () => {
  const paths = (figure: Figure) => all(whiskerChart('Reach', figure, PEOPLE).drawing, 'path').length;
  expect([paths(INTERVALS.usual!), paths(INTERVALS.unbounded!)]).toEqual([0, 1]);
});

it('addingUpChart adds a close-up only if the interval is too narrow to see', () => {
  const texts = (once: Figure) => toText(addingUpChart('Reach', { once, addedUp: 582_656 }).drawing);
  expect(texts(INTERVALS.usual!)).toContain('Close-up');
  expect(texts({ value: 420_731, interval: [380_000, 460_000] })).not.toContain('Close-up');
});

it('barChart draws bars in proportion to their values, on an axis from 0', () => {
  const { drawing } = barChart('x', PEOPLE, [
    { label: 'a', value: 100 },
    { label: 'b', value: 50 },
  ]);
  const [a, b] = all(drawing, 'rect').map(({ attributes }) => Number.parseFloat(String(attributes.width)));
  expect(a).toBeGreaterThan(80);
  expect(b! * 2).toBeCloseTo(a!, 1);
});

it('miniWhisker draws an interval in proportion to its value, up to the full width', () => {
  const width = (figure: Figure) => {
    const { x1, x2 } = all(miniWhisker(figure), 'line').find(
      ({ attributes }) => attributes.class === 'wh',
    )!.attributes;
    return Number.parseFloat(String(x2)) - Number.parseFloat(String(x1));
  };
  expect(width({ value: 1000, interval: [985, 1015] })).toBeCloseTo(50);
  expect(width({ value: 1_000_000, interval: [985_000, 1_015_000] })).toBeCloseTo(50);
  expect(width({ value: 1000, interval: [0, 9000] })).toBe(100);
  expect(width({ value: 0, interval: [0, 407] })).toBe(50);
});

describe('the table rows of upsetChart', () => {
  const rows = (count: number) =>
    upsetChart(
      'Who saw it where',
      ['a', 'b', 'c', 'd', 'e'],
      Array.from({ length: count }, (_, i) => ({
        members: [i % 5],
        value: i,
        interval: [i - 1, i + 1] as const,
      })),
    ).table.rows;
  it('are empty without combinations', () => expect(rows(0)).toEqual([]));
  it('are sorted by value, largest first', () =>
    expect(rows(3).map(([, value]) => value)).toEqual([2, 1, 0]));
  it('are limited to 15, the last of which adds up the remaining values and intervals', () => {
    expect(rows(15)).toHaveLength(15);
    expect(rows(31)).toHaveLength(15);
    const sum = (16 * 17) / 2;
    expect(rows(31).at(-1)).toEqual(['17 other combinations', sum, sum - 17, sum + 17]);
  });
  it('are complemented by a note of combinations that are too small to tell from noise', () => {
    const chart = upsetChart('Who', ['a'], [{ members: [0], value: 42, interval: [0, 407] }]);
    expect(toText(chart.drawing)).toContain('Too small to tell from noise: Only a (0–407)');
  });
});

describe('the bars of incrementChart', () => {
  const { drawing, table } = incrementChart('What each adds', [
    { label: 'a', value: 300, interval: [290, 310] },
    { label: 'b', value: 100, interval: [80, 120] },
  ]);
  const percent = (value: unknown) => Number.parseFloat(String(value));
  const bars = all(drawing, 'rect').filter(
    ({ attributes: { class: style, width } }) => style !== 'soft0' && String(width).endsWith('%'),
  );

  it('start where the previous bar ends, and are in proportion to their increments', () => {
    const [a, b] = bars.map(({ attributes: { x, width } }) => [percent(x), percent(width)]);
    expect(b![0]).toBeCloseTo(a![0]! + a![1]!, 1);
    expect(b![1]! * 3).toBeCloseTo(a![1]!, 1);
    expect(table.rows[1]).toEqual(['b', 300, 100, 80, 120]);
  });

  it('have the whisker of their increment at their end', () => {
    const { x, width } = bars[1]!.attributes;
    const end = percent(x) + percent(width);
    const whiskers = all(drawing, 'line').filter(
      ({ attributes: { class: style, y1, y2 } }) => style === 'wh' && y1 === y2,
    );
    const [x1, x2] = [percent(whiskers[1]!.attributes.x1), percent(whiskers[1]!.attributes.x2)];
    expect((x1 + x2) / 2).toBeCloseTo(end, 1);
    expect(x2 - x1).toBeCloseTo((percent(width) * 40) / 100, 1);
  });
});

describe('the curves of curveChart', () => {
  const points = (values: number[]) =>
    values.map((value, i) => ({
      label: `Week ${i + 1}`,
      value,
      interval: [value - 10, value + 10] as const,
    }));
  const { drawing, finding, table } = curveChart('Reach', PEOPLE, [
    { label: 'All', points: points([100, 200, 300]) },
    { label: 'TV', points: points([50, 80, 90]), series: seriesAt(2) },
  ]);

  it('have a band, a line and a whisker for each point, in the color of their series', () => {
    const classes = all(drawing, 'path').map(({ attributes }) => String(attributes.class));
    expect(classes.filter((style) => /^(band|ln)/.test(style))).toEqual([
      'band b1',
      'ln s1',
      'band b3',
      'ln s3',
    ]);
    const whiskers = all(drawing, 'line').filter(({ attributes }) => /^wh/.test(String(attributes.class)));
    expect(whiskers).toHaveLength(6);
    for (const { attributes } of whiskers)
      expect(Number(attributes.y1) - Number(attributes.y2)).toBeCloseTo((260 * 20) / 400, 0);
  });

  it('are labeled with their last values, and the table has all points', () => {
    expect(toText(drawing)).toContain('<bdi>TV</bdi><b>90</b>');
    expect(finding).toContain('TV: from 50, 95 percent interval 40 to 60 (Week 1) to 90');
    expect(table.rows).toHaveLength(6);
    expect(table.rows[3]).toEqual(['TV', 'Week 1', 50, 40, 60]);
  });
});

it('expectedChart draws margins on one scale, and reports a missing margin as answered already', () => {
  const { drawing, finding } = expectedChart('Expected', PEOPLE, [
    { label: 'a', margin: 100 },
    { label: 'b', margin: 50 },
    { label: 'c', margin: undefined },
  ]);
  const widths = all(drawing, 'line')
    .filter(({ attributes: { class: style, y1, y2 } }) => style === 'wh' && y1 === y2)
    .map(({ attributes: { x1, x2 } }) => Number.parseFloat(String(x2)) - Number.parseFloat(String(x1)));
  expect(widths).toHaveLength(2);
  expect(widths[1]! * 2).toBeCloseTo(widths[0]!);
  expect(finding).toBe('Expected. a: ± 100. b: ± 50. c: answered already');
});

it('upsetChart draws a publisher in the color of its place', () => {
  const { drawing } = upsetChart('Who', ['a', 'b'], [{ members: [1], value: 42, interval: [40, 44] }], {
    places: [4, 2],
  });
  const bar = all(drawing, 'rect').find(({ attributes }) => String(attributes.width).endsWith('%'));
  expect(bar!.attributes.class).toBe('f3');
});

it('charts without data contain no NaN, Infinity or undefined', () => {
  const empty = [
    barChart('x', PEOPLE, []),
    bandChart('x', PEOPLE, []),
    incrementChart('x', []),
    expectedChart('x', PEOPLE, []),
    upsetChart('x', [], []),
    groupChart('x', SHARE, [], []),
    calendarChart('x', [], 'spent'),
  ];
  for (const { drawing } of [...empty, residualChart('x', []), laneChart('x', [])]) {
    expect(toText(drawing)).not.toMatch(/NaN|Infinity|undefined/);
  }
});

it('calendarChart starts a month on its weekday, and marks a day above 90 %', () => {
  const { drawing, finding } = calendarChart(
    'Budget',
    [{ date: '2026-10-01', share: 0.05 }, { date: '2026-10-02', share: 0.91 }, { date: '2026-10-03' }],
    'spent',
  );
  const cells = all(drawing, 'span').filter(({ attributes }) => /^h /.test(String(attributes.class)));
  expect(cells.map(({ attributes }) => attributes.class)).toEqual([
    'h pad',
    'h pad',
    'h pad',
    'h v0',
    'h v5',
    'h none',
  ]);
  expect(finding).toBe('Budget: 2 days, at most 91 % spent, on October 2');
});

it('seriesAt returns 16 distinct combinations of color and shape', () => {
  const marks = Array.from({ length: 16 }, (_, i) => JSON.stringify(seriesAt(i)));
  expect(new Set(marks).size).toBe(16);
  expect(toText(swatch(seriesAt(1)))).toContain('<rect class="f2"');
});

it('charts escape HTML in labels', () => {
  const pages = chartsOf(INTERVALS.usual!, HOSTILE).map(({ drawing }) => toText(drawing));
  for (const page of pages) {
    expect(page).not.toContain('<img');
    expect(page).not.toMatch(/="[^"]*<img/);
    expect(page).toContain('&#60;img src=x onerror=alert(1)&#62;&#34;&#39;&#38;');
  }
});

it('toCsv quotes delimiters and escapes formulas', () => {
  const rows = [
    ['a "b", c', 1.5],
    ['=1+1', -2],
    ['@x', ''],
  ];
  expect(toCsv({ columns: ['name', 'value'], rows })).toBe(
    'name,value\r\n"a ""b"", c",1.5\r\n\'=1+1,-2\r\n\'@x,\r\n',
  );
});
