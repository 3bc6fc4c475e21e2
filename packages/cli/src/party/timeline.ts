import type { Progress, Timeline } from '@measurement-exchange/contract';
import type { Listing } from '@measurement-exchange/sdk';
import { type CallOptions, showResource } from '../calls/command.ts';
import { paint, print, printTable, visible } from '../terminal/output.ts';
import { shortTime } from '../terminal/times.ts';

export async function wholeTimeline(listing: Listing<unknown, Timeline>): Promise<Timeline> {
  const pages = await Array.fromAsync(listing.pages());
  const progress = pages[0]?.progress;
  return { transitions: pages.flatMap(({ transitions }) => transitions), ...(progress && { progress }) };
}

/** Prints the state transitions, then the exchange's findings about requests, then the duchies' progress reports. */
export function showTimeline(options: CallOptions, timeline: Timeline): void {
  showResource(options, timeline, ({ transitions, progress = [] }) => {
    printTable(
      ['TIME (UTC)', 'WHAT', 'STATE', 'BY', 'CAUSE', 'REQUEST ID'],
      transitions.map((t) => [
        shortTime(t.time),
        t.resource.split('/').slice(-2).join('/'),
        t.from === undefined ? t.to : `${t.from} → ${t.to}`,
        t.actor,
        t.cause,
        t.requestId,
      ]),
    );
    for (const { code, field, message, remedy } of transitions.flatMap((t) => t.findings ?? [])) {
      print(`
${paint('yellow', code)} at ${visible(field)}: ${visible(message)}
  ${visible(remedy)}`);
    }
    if (progress.length === 0) return;
    print('');
    printTable(
      ['TIME (UTC)', 'DUCHY', 'STAGE', 'ATTEMPT', 'DONE', 'REPORT'],
      progress.map((p) => [
        shortTime(p.time),
        p.duchy,
        visible(p.stage),
        String(p.attempt),
        percentOf(p),
        visible(p.message),
      ]),
    );
  });
}

/** Returns each duchy's latest report, such as `EXECUTION_PHASE 40 %`. `progress` must list older reports first. */
export function latestReports(progress: readonly Progress[]): Map<string, string> {
  return new Map(
    progress.map((report) => [report.duchy, visible(`${report.stage} ${percentOf(report)}`.trimEnd())]),
  );
}

function percentOf({ progress }: Progress): string {
  return progress === undefined ? '' : `${Math.round(progress * 100)} %`;
}
