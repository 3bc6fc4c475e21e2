/**
 * The CSS of the HTML files that commands write. It includes the CSS of the console's charts, and has rules for phones
 * and for dark mode.
 */
import { readFileSync } from 'node:fs';

export function style(): string {
  const [tokens, charts] = ['tokens.css', 'charts.css'].map((file) =>
    readFileSync(new URL(import.meta.resolve(`@measurement-exchange/console/${file}`)), 'utf8'),
  );
  return `${tokens}${charts}${PAGE}`;
}

const PAGE = `
*, *::before, *::after { box-sizing: border-box; }
body { margin: 0; background: var(--surface); color: var(--ink); font: 16px/1.55 var(--font); font-variant-numeric: tabular-nums; }
main { max-width: 54rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .5rem; } h2 { font-size: 1.2rem; margin: 2.5rem 0 .5rem; border-bottom: 1px solid var(--line); padding-bottom: .3rem; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr)); gap: 1.25rem 2.5rem; }
.wide { overflow-x: auto; } figure { margin: 1rem 0 0; min-width: 0; } figcaption { color: var(--ink2); font-size: .9rem; margin-bottom: .25rem; }
.sm { font-size: var(--t-sm); } .xs { font-size: var(--t-xs); } .muted { color: var(--ink3); } .legend { font-size: .9rem; } p.legend .plot { width: 18px; }
table { border-collapse: collapse; font-size: .9rem; width: 100%; } th, td { text-align: left; padding: .3rem .5rem; border-bottom: 1px solid var(--line); white-space: nowrap; } th.group { padding-top: 1.2rem; color: var(--ink2); font-weight: 600; white-space: normal; } td.n { text-align: right; }
.inside { color: var(--ok); } .outside { color: var(--warn); font-weight: 600; } .beyond { color: var(--bad); font-weight: 600; }
@media (max-width: 46rem) {
  table, tbody, th { display: block; } thead { display: none; }
  tr { display: grid; grid-template-columns: 1fr 1fr; gap: 0 1rem; padding: .4rem 0; border-bottom: 1px solid var(--line); }
  th.group { grid-column: 1 / -1; } th, td, td.n { border: 0; padding: 0; white-space: normal; text-align: left; }
  td::before { content: attr(data-label) ' '; color: var(--ink3); font-weight: 400; } td:empty { display: none; }
}
@media print {
  body { font-size: 11pt; } main { max-width: none; padding: 0; } h2 { break-after: avoid; } figure, tr { break-inside: avoid; }
}
`;
