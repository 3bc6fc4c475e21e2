/** Server-Sent Events: writes the changes of a stream to a client until one of them ends. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Change, ExchangeError, toJson } from '@measurement-exchange/contract';
import { type ChangeEvent, internalError, type OpenStream } from '../serving/index.ts';

export const EVENT_STREAM_TYPE = 'text/event-stream';

export interface StreamTimes {
  /** A comment this often shows both sides that the other one is there. */
  commentMs: number;
  /** A client that does not read for this long is disconnected. */
  slowMs: number;
}
const TIMES: StreamTimes = { commentMs: 15_000, slowMs: 10_000 };

export class EventStreams {
  private readonly times: StreamTimes;
  private readonly responses = new Set<ServerResponse>();
  /** One timer for all streams. */
  private comments: NodeJS.Timeout | undefined;

  constructor(times: StreamTimes = TIMES) {
    this.times = times;
  }

  /** Resolves when the stream has ended. */
  serve(
    response: ServerResponse,
    headers: Record<string, number | string | string[] | undefined>,
    stream: OpenStream,
  ): Promise<void> {
    // The stream ends with the connection: a chunk of its own for each event would be as much work as the event.
    response.removeHeader('transfer-encoding');
    // A proxy that buffers the response would delay the events.
    response.writeHead(200, { ...headers, 'content-type': EVENT_STREAM_TYPE, 'x-accel-buffering': 'no' });
    if (stream.token !== undefined) response.write(`id: ${stream.token}\n\n`);
    flattenHead(response);
    return this.pass(response, stream);
  }

  /** A function of its own, so that the headers are not held for the minutes that a stream lasts. */
  private async pass(response: ServerResponse, stream: OpenStream): Promise<void> {
    response.once('close', () => stream.end());
    this.add(response);
    try {
      while (!stream.isOver && !response.destroyed) {
        const found = await stream.next();
        if (found === undefined) break;
        const { events, token } = found;
        const behind = events.at(-1)?.token === token ? '' : `id: ${token}\n\n`;
        const isTaken = response.write(events.map(textOf).join('') + behind);
        if (!isTaken && !(await this.drained(response))) response.destroy();
      }
    } catch (error) {
      response.write(`event: error\ndata: ${JSON.stringify(toError(error))}\n\n`);
    } finally {
      // All clients come again at once when the exchange stops, so they are told to come later.
      const retryMs = stream.isOver ? randomInt(100, 300) : randomInt(500, 2_000);
      response.end(`retry: ${retryMs}\n\n`);
      this.remove(response);
      stream.end();
    }
  }

  /** Whether the client read what was written. */
  private drained(response: ServerResponse): Promise<boolean> {
    return once(response, 'drain', { signal: AbortSignal.timeout(this.times.slowMs) }).then(
      () => true,
      () => false,
    );
  }

  private add(response: ServerResponse): void {
    this.responses.add(response);
    this.comments ??= setInterval(() => this.comment(), this.times.commentMs);
  }

  private remove(response: ServerResponse): void {
    this.responses.delete(response);
    if (this.responses.size > 0) return;
    clearInterval(this.comments);
    this.comments = undefined;
  }

  private comment(): void {
    for (const response of this.responses) if (!response.writableNeedDrain) response.write(':\n\n');
  }
}

/** Node keeps the head as the pieces that it was concatenated from, 1.5 KB of them: searching the string flattens it. */
function flattenHead(response: ServerResponse & { _header?: string }): void {
  response._header?.includes('\0');
}

/** The text of an event, made once for all clients that get it. */
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
