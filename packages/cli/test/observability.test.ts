/** Compares the alert rules and the dashboard with the metrics that an exchange and a duchy export. */
import { readFileSync } from 'node:fs';
import { Metrics } from '@measurement-exchange/duchy/internal/observability/metrics';
import { createDuchyDatabase } from '@measurement-exchange/testkit/duchy';
import { useExchange } from '@measurement-exchange/testkit/exchange';
import { expect, it } from 'vitest';

const exchange = useExchange();
const textOf = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const ALERTS = textOf('packaging/observability/alerts.yaml');
const DASHBOARD = textOf('packaging/observability/dashboard.json');

/** Returns the names of all metrics of both servers. */
async function existing(): Promise<Set<string>> {
  const { db, drop } = await createDuchyDatabase();
  const metrics = new Metrics();
  metrics.watchDatabase(db);
  const texts = [await (await fetch(`${exchange.url}/metrics`)).text(), await metrics.text()];
  await drop();
  return new Set(texts.flatMap((text) => [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!)));
}

const namedIn = (text: string) =>
  [...text.matchAll(/\b((?:mex|nodejs|process)_[a-z0-9_]+)/g)].map(([, name]) =>
    name!.replace(/_bucket$/, ''),
  );

it('the alerts and the dashboard use only metrics that exist', async () => {
  const metrics = await existing();
  const expressions = [...ALERTS.matchAll(/expr: (.*)/g)].map(([, expression]) => expression!);
  expect(expressions).toHaveLength(ALERTS.match(/- alert:/g)!.length);
  for (const text of [...expressions, DASHBOARD]) {
    const names = namedIn(text);
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !metrics.has(name))).toEqual([]);
  }
});

it('docs/observability.md mentions every alert', () => {
  const document = textOf('docs/observability.md');
  for (const [, alert] of ALERTS.matchAll(/- alert: (\w+)/g)) expect(document).toContain(`\`${alert}\``);
});
