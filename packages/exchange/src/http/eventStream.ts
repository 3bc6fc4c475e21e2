/** Writes the changes of a stream to a client as Server-Sent Events, until the stream ends or the client hangs up. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Change, toJson } from '@measurement-exchange/contract';
import type { ChangeEvent, OpenStream } from '../serving/index.ts';
import { toExchangeError } from './errors.ts';

/** A comment is sent every `commentMs`. A client that does not read for `slowMs` is disconnected. */
const TIMES = { commentMs: 15_000, slowMs: 10_000 };

export class EventStreams {
  private readonly times: typeof TIMES;
  private readonly responses = new Set<ServerResponse>();
  /** The timer of the comments to all streams. */
  private comments: NodeJS.Timeout | undefined;

  constructor(times = TIMES) {
    this.times = times;
  }

  /** Resolves when the stream has ended. */
  serve(
    response: ServerResponse,
    headers: Record<string, number | string | string[] | undefined>,
    stream: OpenStream,
  ): Promise<void> {
    // The stream ends with the connection, since a separate chunk for each event would cost as much as the event.
    response.removeHeader('transfer-encoding');
    // A proxy that buffers the response would delay the events.
    response.writeHead(200, { ...headers, 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
    if (stream.token !== undefined) response.write(`id: ${stream.token}\n\n`);
    flattenHead(response);
    return this.pass(response, stream);
  }

  /** A separate function, so that the memory of the headers is released while the stream lasts. */
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
      response.write(`event: error\ndata: ${JSON.stringify(toExchangeError(error))}\n\n`);
    } finally {
      // When the exchange stops, all clients reconnect at once, so they are told to wait longer.
      const retryMs = stream.isOver ? randomInt(100, 300) : randomInt(500, 2_000);
      response.end(`retry: ${retryMs}\n\n`);
      this.remove(response);
      stream.end();
    }
  }

  /** Whether the client read all written data in time. */
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

/** V8 keeps the response head as a tree of concatenated pieces, 1.5 KB; searching the string makes it one piece. */
function flattenHead(response: ServerResponse & { _header?: string }): void {
  response._header?.includes('\0');
}

/** The text of each event, which is made once for all clients. */
const texts = new WeakMap<ChangeEvent, string>();

function textOf(event: ChangeEvent): string {
  let text = texts.get(event);
  if (text === undefined) {
    text = `id: ${event.token}\ndata: ${toJson(Change, event.change)}\n\n`;
    texts.set(event, text);
  }
  return text;
}
