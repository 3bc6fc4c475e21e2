/** Sends changes to a client as Server-Sent Events, until the stream ends or the client disconnects. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Change, type ExchangeError, toJson } from '@measurement-exchange/contract';
import type { ChangeEvent, OpenStream } from '../serving/index.ts';
import { toExchangeError } from './errors.ts';

/**
 * Times for every stream. An empty comment every `commentMs` keeps the connection open. A client that does not read for
 * `slowMs` is disconnected.
 */
const TIMES = { commentMs: 15_000, slowMs: 10_000 };

export class EventStreams {
  private readonly times: typeof TIMES;
  private readonly responses = new Set<ServerResponse>();
  private comments: NodeJS.Timeout | undefined;

  constructor(times = TIMES) {
    this.times = times;
  }

  serve(
    response: ServerResponse,
    headers: Record<string, number | string | string[] | undefined>,
    stream: OpenStream,
    onError: (error: ExchangeError) => void,
  ): Promise<void> {
    // Do not use chunked encoding, because it would double the cost of sending an event. The end of the connection
    // marks the end of the stream.
    response.removeHeader('transfer-encoding');
    // Without `x-accel-buffering: no`, a proxy might delay the events in a buffer.
    response.writeHead(200, { ...headers, 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
    if (stream.token !== undefined) response.write(`id: ${stream.token}\n\n`);
    flattenHead(response);
    return this.pass(response, stream, onError);
  }

  /**
   * Passes events on until the stream ends. Kept separate from `serve`, so that the headers can be garbage-collected
   * while the stream is open.
   */
  private async pass(
    response: ServerResponse,
    stream: OpenStream,
    onError: (error: ExchangeError) => void,
  ): Promise<void> {
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
      const failure = toExchangeError(error);
      onError(failure);
      response.write(`event: error\ndata: ${JSON.stringify(failure)}\n\n`);
    } finally {
      // Tell the client when to reconnect. When the exchange stops, all clients reconnect at the same time, so their
      // delays are longer and vary more.
      const retryMs = stream.isOver ? randomInt(100, 300) : randomInt(500, 2_000);
      response.end(`retry: ${retryMs}\n\n`);
      this.remove(response);
      stream.end();
    }
  }

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

/**
 * Saves memory. V8 stores the response head as a tree of short strings (1.5 KB). A search makes V8 replace the tree
 * with one flat string.
 */
function flattenHead(response: ServerResponse & { _header?: string }): void {
  response._header?.includes('\0');
}

/** Caches the text of each event, so that the text is built once for all clients. */
const texts = new WeakMap<ChangeEvent, string>();

function textOf(event: ChangeEvent): string {
  let text = texts.get(event);
  if (text === undefined) {
    text = `id: ${event.token}\ndata: ${toJson(Change, event.change)}\n\n`;
    texts.set(event, text);
  }
  return text;
}
