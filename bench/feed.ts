/**
 * Measures the feed of changes: the latency from commit to watcher, the memory of an idle watcher, and the cost of
 * reading a page of a long log.
 */
import { feedIdle } from './lib/feedIdle.ts';
import { feedLatency } from './lib/feedLatency.ts';
import { feedPages } from './lib/feedPages.ts';
import type { Bench } from './lib/options.ts';
import type { Section, Verdict } from './lib/report.ts';

const PARTS = { latency: feedLatency, idle: feedIdle, pages: feedPages };

export async function feed(bench: Bench): Promise<Section> {
  const data: Record<string, unknown> = {};
  const verdicts: Verdict[] = [];
  for (const [name, part] of Object.entries(PARTS)) {
    if (bench.operations !== undefined && !bench.operations.includes(name)) continue;
    const result = await part(bench);
    data[name] = result.data;
    verdicts.push(...result.verdicts);
  }
  return { name: 'feed', data, verdicts };
}
