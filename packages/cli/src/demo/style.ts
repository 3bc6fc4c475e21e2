/** The CSS of the report. It supports phones and dark mode. */
export const STYLE = `
:root { color-scheme: light dark; --ink: #1d2530; --soft: #5b6675; --line: #d9dee5; --paper: #fff; --bar: #4a7fd0; --range: #b9cdec; --truth: #c2410c; --claimed: #d9b26a; --good: #1f7a47; --warn: #a15c07; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaf0; --soft: #9aa6b5; --line: #323b47; --paper: #14181d; --bar: #6d9be0; --range: #33507f; --truth: #ff8a4c; --claimed: #8a6a2c; --good: #58c48a; --warn: #e3a63f; --bad: #ff7a70; } }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
main { max-width: 54rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .5rem; } h2 { font-size: 1.2rem; margin: 2.5rem 0 .5rem; border-bottom: 1px solid var(--line); padding-bottom: .3rem; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); gap: 1.25rem 2.5rem; }
figure { margin: 1rem 0 0; max-width: 30rem; } figcaption { color: var(--soft); font-size: .9rem; margin-bottom: .25rem; }
svg { display: block; width: 100%; height: auto; font: 12px system-ui, sans-serif; }
.label { fill: var(--ink); } .value { text-anchor: end; fill: var(--soft); } .tick { text-anchor: middle; fill: var(--soft); font-size: 11px; }
rect.bar, .swatch.bar { fill: var(--bar); background: var(--bar); } rect.range { fill: var(--range); } rect.true { fill: var(--line); } rect.claimed, .swatch.claimed { fill: var(--claimed); background: var(--claimed); }
.whisker { stroke: var(--ink); fill: none; stroke-width: 1.2; } .truth { stroke: var(--truth); fill: none; stroke-width: 2.5; } .grid { stroke: var(--line); } .dot { fill: var(--bar); stroke: var(--paper); }
.state { fill: var(--soft); background: var(--soft); } .awaiting_requisition_fulfillment { fill: var(--range); background: var(--range); } .computing { fill: var(--bar); background: var(--bar); }
.succeeded { fill: #2f9e60; background: #2f9e60; } .failed { fill: #cf4037; background: #cf4037; } .cancelled { fill: #a16207; background: #a16207; }
.key { color: var(--soft); font-size: .9rem; } .swatch { display: inline-block; width: .9rem; height: .7rem; margin: 0 .25rem 0 .8rem; } .swatch.whisker { height: 2px; background: var(--ink); vertical-align: middle; } .swatch.truth { width: 3px; background: var(--truth); vertical-align: middle; }
table { border-collapse: collapse; font-size: .9rem; width: 100%; } th, td { text-align: left; padding: .3rem .5rem; border-bottom: 1px solid var(--line); white-space: nowrap; } th.group { padding-top: 1.2rem; color: var(--soft); font-weight: 600; white-space: normal; } td.n { text-align: right; font-variant-numeric: tabular-nums; }
.inside { color: var(--good); } .outside { color: var(--warn); font-weight: 600; } .beyond { color: var(--bad); font-weight: 600; }
@media (max-width: 46rem) {
  table, tbody, th { display: block; } thead { display: none; }
  tr { display: grid; grid-template-columns: 1fr 1fr; gap: 0 1rem; padding: .4rem 0; border-bottom: 1px solid var(--line); }
  th.group { grid-column: 1 / -1; } th, td, td.n { border: 0; padding: 0; white-space: normal; text-align: left; }
  td::before { content: attr(data-label) ' '; color: var(--soft); font-weight: 400; } td:empty { display: none; }
}
`;
