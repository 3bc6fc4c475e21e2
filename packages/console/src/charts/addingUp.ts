/**
 * A chart that compares the number of distinct people with the sum of the publishers' figures, and with the population.
 */
import { around, count, percent, spread } from '../format.ts';
import { stripes } from './bars.ts';
import { type Chart, cellsOf, FIGURE_COLUMNS, type Figure, picture, plot } from './chart.ts';
import { across, type Node, node } from './node.ts';
import { type Scale, scaleFromZero } from './scale.ts';
import { PEOPLE } from './units.ts';
import { closeUp, isTooNarrow, whisker } from './whisker.ts';

export interface AddingUp {
  once: Figure;
  addedUp: number;
  population?: number;
  /**
   * Set this to false to omit the close-up of a narrow interval, if a chart beside this one already shows the interval.
   */
  hasCloseUp?: boolean;
}

export function addingUpChart(
  title: string,
  { once, addedUp, population, hasCloseUp = true }: AddingUp,
): Chart {
  const ends = [once.value, ...(once.interval ?? []), addedUp, population ?? 0];
  const scale = scaleFromZero(ends, PEOPLE);
  const excess = addedUp / once.value - 1;
  const finding =
    `${title}: ${spread(once.value, once.interval, PEOPLE)}${population ? ` of ${count(population)} people` : ''}; ` +
    `adding up would claim ${count(addedUp)}${once.value > 0 ? `, ${percent(excess, 0)} too many` : ''}`;
  const top = population === undefined ? 78 : 100;
  const isClose = hasCloseUp && isTooNarrow(scale, once);
  const close = isClose && [
    node('text', { x: 0, y: top + 8 }, 'Close-up'),
    node(
      'svg',
      { x: 0, y: top + 14, width: '100%', height: 44, overflow: 'visible' },
      ...closeUp(once, PEOPLE),
    ),
  ];
  const rows = [...onceRow(scale, once, population), ...addedUpRow(scale, addedUp)];
  return {
    title,
    finding,
    drawing: picture(
      finding,
      { class: 'ch' },
      plot(isClose ? top + 58 : top, ...rows, ...(population ? target(scale, population) : []), close),
    ),
    table: {
      columns: ['', ...FIGURE_COLUMNS(PEOPLE)],
      rows: [
        ['Each person once', ...cellsOf(once)],
        ['Added up', addedUp, '', ''],
        ...(population === undefined ? [] : [['Population', population, '', '']]),
      ],
    },
  };
}

function onceRow(scale: Scale, once: Figure, population?: number): Node[] {
  const width = scale.at(once.value);
  const all = population === undefined ? width : Math.max(width, scale.at(population));
  return [
    node('text', { class: 'k2', x: 0, y: 11 }, 'Each person once'),
    node(
      'text',
      { class: 'k', x: '100%', y: 11, 'text-anchor': 'end' },
      count(once.value),
      ...marginOf(once),
    ),
    node('rect', { class: 'soft0', x: 0, y: 17, width: across(all), height: 15, rx: 2 }),
    node('rect', { class: 'f1', x: 0, y: 17, width: across(width), height: 15, rx: 2 }),
    ...whisker(scale, 24.5, once, { cap: 9.5, isOnBar: true }),
  ];
}

function marginOf({ value, interval }: Figure): Node[] {
  return interval === undefined ? [] : [node('tspan', { class: 'm' }, ` ${around(value, interval, PEOPLE)}`)];
}

function addedUpRow(scale: Scale, addedUp: number): Node[] {
  return [
    node('text', { class: 'k2', x: 0, y: 53 }, 'Added up'),
    node('text', { class: 'k', x: '100%', y: 53, 'text-anchor': 'end' }, count(addedUp)),
    ...stripes(scale.at(addedUp), 59, 15),
  ];
}

function target({ at }: Scale, population: number): Node[] {
  const x = at(population);
  return [
    ...[17, 59].map((y) =>
      node('line', { class: 'target', x1: across(x), x2: across(x), y1: y - 2, y2: y + 17 }),
    ),
    node(
      'text',
      { x: across(x), y: 93, 'text-anchor': x > 85 ? 'end' : 'middle' },
      `${count(population)} people in all`,
    ),
  ];
}
