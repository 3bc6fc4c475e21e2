/** The icons of the console, as SVG paths in a view box of 16 by 16 units. */

const PATHS = {
  agent: 'M3.5 5.5h9v7h-9zM8 5.5V3M6 8.5v1M10 8.5v1',
  budget: 'M8 2.5A5.5 5.5 0 1 0 13.5 8H8z M10.5 2.8A5.5 5.5 0 0 1 13.2 5.5',
  catalog: 'M3 3h4v4H3zM9 3h4v4H9zM3 9h4v4H3zM9 9h4v4H9z',
  changes: 'M2 8h3l2-4.5L9.5 12 11 8h3',
  check: 'm3.5 8.5 3 3 6-7',
  clock: 'M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11M8 5v3.2l2 1.3',
  clone: 'M2.5 2.5h7v7h-7zM6.5 12v1.5h7v-7H12',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  doc: 'M3 8.5h2.2l1.3-4 2.6 8 1.6-4H13',
  down: 'M8 2.5v7.5M4.8 7 8 10.2 11.2 7M3 13.2h10',
  down2: 'm3.5 6 4.5 4.5L12.5 6',
  duchy: 'M8 2.8 13 12H3zM8 6.5v0M5.6 10.6h0M10.4 10.6h0',
  home: 'M2.5 7.5 8 3l5.5 4.5V13h-4v-3.5h-3V13h-4z',
  hook: 'M6 6a2.5 2.5 0 1 1 3.4 2.3L11 11M5.5 7.5 4 10.5a2 2 0 1 0 2.6 2H11M11 11a2 2 0 1 1-1.4 3.2',
  info: 'M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11M8 7.5V11M8 5.2v.1',
  key: 'M10 9.5a3.5 3.5 0 1 0-3.2-2.1L2.5 11.7V14h2.6v-1.6h1.6v-1.6L8 9.6',
  link: 'M6.8 9.2a2.5 2.5 0 0 0 3.5 0l2.2-2.2A2.5 2.5 0 0 0 9 3.5l-.8.8M9.2 6.8a2.5 2.5 0 0 0-3.5 0L3.5 9A2.5 2.5 0 0 0 7 12.5l.8-.8',
  list: 'M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.1M2.5 8h.1M2.5 12h.1',
  lock: 'M4 7.5h8v6H4zM5.8 7.5V5.2a2.2 2.2 0 0 1 4.4 0v2.3',
  measure: 'M2 8h12M2 5v6M14 5v6M8 6.2v3.6',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  minus: 'M4 8h8',
  party:
    'M5.5 7.5a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4M1.8 13c.3-2.2 1.8-3.5 3.7-3.5S8.9 10.8 9.2 13M10.3 3.4a2 2 0 0 1 .2 3.9M11.3 9.8c1.6.3 2.6 1.4 2.9 3.2',
  plus: 'M8 3v10M3 8h10',
  report: 'M3 13V8M6.3 13V4M9.7 13V9.5M13 13V6',
  right: 'm6 3.5 4.5 4.5L6 12.5',
  run: 'M13.5 8A5.5 5.5 0 1 1 8 2.5',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9M10.4 10.4 14 14',
  server: 'M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.1M5 11h.1',
  shield: 'M8 2.2 13 4v4c0 3-2 5-5 6-3-1-5-3-5-6V4zM5.8 8l1.6 1.6L10.4 6.5',
  theme:
    'M8 2.5v1M8 12.5v1M2.5 8h1M12.5 8h1M4.1 4.1l.7.7M11.2 11.2l.7.7M4.1 11.9l.7-.7M11.2 4.8l.7-.7M8 10.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5',
  warn: 'M8 2.8 14 13H2zM8 6.8v2.7M8 11.3v.1',
  x: 'm4 4 8 8M12 4l-8 8',
};

export type IconName = keyof typeof PATHS;
export type Tone = 'ok' | 'warn' | 'bad';

/** Draws an icon. Screen readers ignore it, so the text beside it must have the same meaning. */
export function Icon({ name, tone }: { name: IconName; tone?: Tone }) {
  return (
    <svg className={tone ? `i ${tone}` : 'i'} viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
