/**
 * Charts as pure functions, which need no browser. The console renders a chart as React elements. The HTML reports that
 * `mex` writes contain the chart as HTML text.
 */
export { type AddingUp, addingUpChart } from './addingUp.ts';
export { bandChart, type Curve, curveChart, type Point } from './band.ts';
export { type Bar, barChart } from './bars.ts';
export { calendarChart, type Day } from './calendar.ts';
export type { Chart, Figure, Table } from './chart.ts';
export { toCsv } from './csv.ts';
export { type Expected, expectedChart } from './expected.ts';
export { frequencyChart, kPlusChart } from './frequency.ts';
export { type Group, groupChart, legend } from './groups.ts';
export { type Increment, incrementChart } from './increments.ts';
export { type Lane, laneChart } from './lanes.ts';
export { escapeText, type Node, toText } from './node.ts';
export { previewChart } from './preview.ts';
export { type Residual, residualChart } from './residuals.ts';
export { NEUTRAL, type Series, seriesAt, swatch } from './series.ts';
export { counts, decimals, HOURS, IMPRESSIONS, PEOPLE, SHARE, type Unit } from './units.ts';
export { type Combination, type UpsetStyle, upsetChart } from './upset.ts';
export { MINI_RANGE, miniWhisker, whiskerChart } from './whisker.ts';
