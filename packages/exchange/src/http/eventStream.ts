/** Server-Sent Events: the changes of a watch, as long as somebody reads them. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Change, ExchangeError, toJson } from '@measurement-exchange/contract';
import { type ChangeEvent, internalError, type Watch } from '../serving/index.ts';

export const EVENT_STREAM_TYPE = 'text/event-stream';

export interface StreamTimes {
  /** A comment this often shows both sides that the other is there; then it is also looked whether the reader may read on. */
  commentMs: number;
  /** A stream ends after about this time, and its reader comes again with a token that is looked at anew. */
  maxAgeMs: number;
  /** Who takes nothing for this long is cut. */
  slowMs: number;
}
const TIMES: StreamTimes = { commentMs: 15_000, maxAgeMs: 300_000, slowMs: 10_000 };

class OpenStream {
  readonly response: ServerResponse;
  readonly watch: Watch;
  /** Whether its reader may still have it. */
  readonly isAuthorized: () => Promise<boolean>;
  /** Its reader is gone, or is to come again. */
  isOver = false;

  constructor(response: ServerResponse, watch: Watch, isAuthorized: () => Promise<boolean>) {
    this.response = response;
    this.watch = watch;
    this.isAuthorized = isAuthorized;
  }

  end(): void {
    this.isOver = true;
    this.watch.close();
  }
}

export class EventStreams {
  private readonly times: StreamTimes;
  private readonly open = new Set<OpenStream>();
  private comments: NodeJS.Timeout | undefined;

  constructor(times: StreamTimes = TIMES) {
    this.times = times;
  }

  /** Resolves when the stream has ended. */
  serve(
    response: ServerResponse,
    headers: Record<string, number | string | string[] | undefined>,
    watch: Watch,
    isAuthorized: () => Promise<boolean>,
  ): Promise<void> {
    // Ends with the connection: a chunk of its own for each event would be as much work as the event.
    response.removeHeader('transfer-encoding');
    // A proxy that collects the response would hold the events back.
    response.writeHead(200, { ...headers, 'content-type': EVENT_STREAM_TYPE, 'x-accel-buffering': 'no' });
    if (watch.token !== undefined) response.write(`id: ${watch.token}\n\n`);
    flattenHead(response);
    return this.pass(new OpenStream(response, watch, isAuthorized));
  }

  /** Without what only the head needs: it lasts for minutes. */
  private async pass(stream: OpenStream): Promise<void> {
    const { response, watch } = stream;
    // Not all of those that came at once end at once. Timers of the same length share a list.
    const age = setTimeout(() => stream.end(), (randomInt(80, 101) / 100) * this.times.maxAgeMs);
    response.once('close', () => stream.end());
    this.enter(stream);
    try {
      while (!stream.isOver && !response.destroyed) {
        const found = await watch.next();
        if (found === undefined) break;
        const { events, token } = found;
        const behind = events.at(-1)?.token === token ? '' : `id: ${token}\n\n`;
        const isTaken = response.write(events.map(textOf).join('') + behind);
        if (!isTaken && !(await this.drained(response))) response.destroy();
      }
    } catch (error) {
      response.write(`event: error\ndata: ${JSON.stringify(toError(error))}\n\n`);
    } finally {
      // Later where all are to come again at once, because the exchange stops.
      const retryMs = stream.isOver ? randomInt(100, 300) : randomInt(500, 2_000);
      response.end(`retry: ${retryMs}\n\n`);
      clearTimeout(age);
      this.leave(stream);
      stream.end();
    }
  }

  /** Whether the reader took what there is. */
  private drained(response: ServerResponse): Promise<boolean> {
    return once(response, 'drain', { signal: AbortSignal.timeout(this.times.slowMs) }).then(
      () => true,
      () => false,
    );
  }

  private enter(stream: OpenStream): void {
    this.open.add(stream);
    this.comments ??= setInterval(() => this.comment(), this.times.commentMs);
  }

  private leave(stream: OpenStream): void {
    this.open.delete(stream);
    if (this.open.size > 0) return;
    clearInterval(this.comments);
    this.comments = undefined;
  }

  /** One timer for all. Who may not have its stream any more comes again, and is rejected as for any request. */
  private comment(): void {
    for (const stream of this.open) {
      const { response, isAuthorized } = stream;
      if (!response.writableNeedDrain) response.write(':\n\n');
      void isAuthorized().then((isStill) => isStill || stream.end());
    }
  }
}

/** Node keeps the head as the many pieces that it was made of, 1.5 KB of them: looking into a string makes it one piece. */
function flattenHead(response: ServerResponse & { _header?: string }): void {
  response._header?.includes('\0');
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
