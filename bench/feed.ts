/** The feed of changes: from commit to watcher, what an idle watcher holds, what a page of a long log costs. */
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
