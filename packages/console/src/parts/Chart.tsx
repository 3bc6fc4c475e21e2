/** Shows a chart with its table, and saves both as files. */
import { createElement, type ReactNode, useRef, useState } from 'react';
import type { Chart as ChartData, Node, Table } from '../charts/index.ts';
import { seriesAt, swatch, toCsv } from '../charts/index.ts';
import { count } from '../format.ts';
import { Icon } from './Icon.tsx';
import { toPng } from './png.ts';

/** `file` is the name of the saved files, without the extension. */
export function Chart({ chart, file }: { chart: ChartData; file: string }) {
  const drawing = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  const saveCsv = () => save(new Blob([toCsv(chart.table)], { type: 'text/csv' }), `${file}.csv`);
  const savePng = async () =>
    save(await toPng(drawing.current!.firstElementChild!, chart.title), `${file}.png`);
  return (
    <figure className="chart">
      <div ref={drawing}>
        <Drawing tree={chart.drawing} />
      </div>
      <div className="row files">
        <button
          type="button"
          className="btn sm plain"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name="list" /> {isOpen ? 'Hide table' : 'As a table'}
        </button>
        <button type="button" className="btn sm plain" aria-label={`CSV: ${chart.title}`} onClick={saveCsv}>
          <Icon name="down" /> CSV
        </button>
        <button
          type="button"
          className="btn sm plain"
          aria-label={`PNG: ${chart.title}`}
          onClick={() => void savePng()}
        >
          <Icon name="down" /> PNG
        </button>
      </div>
      {isOpen && <ChartTable title={chart.title} table={chart.table} />}
    </figure>
  );
}

function ChartTable({ title, table: { columns, rows, text = count } }: { title: string; table: Table }) {
  const isNumber = columns.map((_, i) => rows.some((row) => typeof row[i] === 'number'));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls a table that is wider than the page
    <section className="scroll" tabIndex={0} aria-label={`Table: ${title}`}>
      <table className="dense">
        <thead>
          <tr>
            {columns.map((column, i) => (
              <th key={column} scope="col" className={isNumber[i] ? 'num' : undefined}>
                {column || <span className="sr">Name</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows may be equal, and keep their order
            <tr key={i}>
              {row.map((cell, j) => (
                <td key={columns[j]} className={isNumber[j] ? 'num' : undefined}>
                  {typeof cell === 'number' ? text(cell) : <bdi>{cell}</bdi>}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

export function Drawing({ tree }: { tree: Node }) {
  return elementOf(tree, 0);
}

/** A publisher's mark, with the same color and shape as in the charts. */
export function Swatch({ index }: { index: number }) {
  return <Drawing tree={swatch(seriesAt(index))} />;
}

function elementOf(tree: Node | string, key: number): ReactNode {
  if (typeof tree === 'string') return tree;
  const attributes = Object.entries(tree.attributes).map(([name, value]) => [propertyOf(name), value]);
  return createElement(tree.tag, { key, ...Object.fromEntries(attributes) }, ...tree.children.map(elementOf));
}

/** Returns React's name of an attribute, such as `textAnchor` for `text-anchor`. */
function propertyOf(name: string): string {
  if (name === 'class') return 'className';
  if (name.startsWith('aria-')) return name;
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

export function save(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
