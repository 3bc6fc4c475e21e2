/** Server-Sent Events: the changes of a watch, as long as somebody reads them. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Change, ExchangeError, toJson } from '@measurement-exchange/contract';
import { type ChangeEvent, internalError, type Watch } from '../serving/index.ts';

export const EVENT_STREAM_TYPE = 'text/event-stream';

export interface StreamTimes {
  /** A comment this often shows both sides that the other is there. */
  commentMs: number;
  /** A stream ends after about this time, and its reader comes again with a token that is looked at anew. */
  maxAgeMs: number;
  /** Who takes nothing for this long is cut. */
  slowMs: number;
}
const TIMES: StreamTimes = { commentMs: 15_000, maxAgeMs: 300_000, slowMs: 10_000 };

export class EventStreams {
  private readonly times: StreamTimes;
  private readonly open = new Set<ServerResponse>();
  private comments: NodeJS.Timeout | undefined;

  constructor(times: StreamTimes = TIMES) {
    this.times = times;
  }

  /** Resolves when the stream has ended. */
  async serve(
    response: ServerResponse,
    headers: Record<string, number | string | string[] | undefined>,
    watch: Watch,
  ): Promise<void> {
    const over = new AbortController();
    const end = () => over.abort();
    const { maxAgeMs } = this.times;
    // Not all of those that came at once end at once.
    const age = setTimeout(end, randomInt(Math.ceil(0.8 * maxAgeMs), maxAgeMs + 1));
    response.once('close', end);
    this.enter(response);
    try {
      // A proxy that collects the response would hold the events back.
      response.writeHead(200, { ...headers, 'content-type': EVENT_STREAM_TYPE, 'x-accel-buffering': 'no' });
      if (watch.token !== undefined) response.write(`id: ${watch.token}\n\n`);
      await this.pump(response, watch, over.signal);
      response.end(`retry: ${randomInt(500, 2_000)}\n\n`);
    } finally {
      clearTimeout(age);
      this.leave(response);
      watch.close();
    }
  }

  /** Until the watch or its reader ends. */
  private async pump(response: ServerResponse, watch: Watch, over: AbortSignal): Promise<void> {
    while (!over.aborted && !response.destroyed) {
      const found = await watch.next(over).catch((error) => {
        response.write(`event: error\ndata: ${JSON.stringify(toError(error))}\n\n`);
      });
      if (!found) return;
      const { events, token } = found;
      const behind = events.at(-1)?.token === token ? '' : `id: ${token}\n\n`;
      const isTaken = response.write(events.map(textOf).join('') + behind);
      if (!isTaken && !(await this.drained(response, over))) response.destroy();
    }
  }

  /** Whether the reader took what there is. */
  private drained(response: ServerResponse, over: AbortSignal): Promise<boolean> {
    const signal = AbortSignal.any([over, AbortSignal.timeout(this.times.slowMs)]);
    return once(response, 'drain', { signal }).then(
      () => true,
      () => false,
    );
  }

  private enter(response: ServerResponse): void {
    this.open.add(response);
    this.comments ??= setInterval(() => this.comment(), this.times.commentMs);
  }

  private leave(response: ServerResponse): void {
    this.open.delete(response);
    if (this.open.size > 0) return;
    clearInterval(this.comments);
    this.comments = undefined;
  }

  /** One timer for all. */
  private comment(): void {
    for (const response of this.open) if (!response.writableNeedDrain) response.write(':\n\n');
  }
}

/** One text for all who get the event. */
const texts = new WeakMap<ChangeEvent, string>();

function textOf(event: ChangeEvent): string {
  let text = texts.get(event);
  if (text === undefined) {
    text = `id: ${event.token}\ndata: ${toJson(Change, event.change)}\n\n`;
    texts.set(event, text);
  }
  return text;
}

function toError(error: unknown): ExchangeError {
  return error instanceof ExchangeError ? error : internalError(error);
}
