/** Receives Server-Sent Events from an exchange over a single connection, and records how the connection ended. */
import { ExchangeError } from '@measurement-exchange/contract';
import { EventParser, type StreamEvent } from './eventParser.ts';
import type { PreparedCall } from './request.ts';
import { readBody, readResponse } from './response.ts';
import { request, type Sender, withToken } from './send.ts';
import { reasonOf } from './unreachable.ts';

/** How long to wait for the first bytes. An exchange sends bytes immediately, even if nothing has changed. */
const OPENING_MS = 5_000;
/** How long a stream is allowed to be silent. An exchange sends at least a comment every 15 seconds. */
const SILENCE_MS = 40_000;
/**
 * The minimum duration of a working stream. A stream that is cut off sooner counts as broken, unless the exchange has
 * told the client when to reconnect.
 */
const LASTING_MS = 2_000;
const MAX_RETRY_MS = 60_000;

const NOTHING_ARRIVED = new Error('nothing arrives');

export interface Ending {
  /**
   * The reason that the stream failed, such as a proxy that blocks streams. Undefined if the stream worked, or if the
   * exchange has told the client when to reconnect.
   */
  broken: string | undefined;
  /** The wait before reconnecting that the exchange asks for, or undefined if the exchange asks for none. */
  retryMs: number | undefined;
}

export class EventStream {
  private readonly sender: Sender;
  private readonly call: PreparedCall;
  private readonly signal: AbortSignal;
  private readonly connection = new AbortController();
  private readonly parser = new EventParser();
  private readonly decoder = new TextDecoder();
  private reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  private arrived: StreamEvent[] = [];
  private openedAt: number | undefined;
  private retryMs: number | undefined;
  private problem: string | undefined;

  constructor(sender: Sender, call: PreparedCall, signal: AbortSignal) {
    this.sender = sender;
    this.call = call;
    this.signal = signal;
    signal.addEventListener('abort', this.close, { once: true });
  }

  /**
   * Returns the next event or comment, or undefined if the stream has ended or failed. Throws if the exchange responds
   * with an error.
   */
  async next(): Promise<StreamEvent | undefined> {
    this.signal.throwIfAborted();
    const { timeoutMs } = this.sender;
    const patienceMs = this.openedAt === undefined ? Math.min(OPENING_MS, timeoutMs) : SILENCE_MS;
    const timer = setTimeout(() => this.stop(NOTHING_ARRIVED), patienceMs);
    try {
      this.reader ??= await this.open();
      while (this.arrived.length === 0) {
        const { done, value } = await this.reader.read();
        this.connection.signal.throwIfAborted();
        if (done) throw new Error('it is cut');
        this.openedAt ??= performance.now();
        this.arrived = this.parser.push(this.decoder.decode(value, { stream: true }));
      }
    } catch (error) {
      this.signal.throwIfAborted();
      if (error instanceof ExchangeError) throw error;
      const isLasting = this.openedAt !== undefined && performance.now() - this.openedAt >= LASTING_MS;
      if (!isLasting || error === NOTHING_ARRIVED) this.problem = reasonOf(error);
      return undefined;
    } finally {
      clearTimeout(timer);
    }
    const event = this.arrived.shift()!;
    if (event.retry !== undefined) this.retryMs = Math.min(Number(event.retry), MAX_RETRY_MS);
    return event;
  }

  ending(): Ending {
    const { retryMs, problem } = this;
    return { retryMs, broken: retryMs === undefined ? problem : undefined };
  }

  readonly close = (): void => {
    this.signal.removeEventListener('abort', this.close);
    this.stop();
  };

  private stop(reason?: Error): void {
    this.connection.abort(reason);
    // Ignore errors from canceling, because nobody reads the stream anymore.
    this.reader?.cancel().catch(() => {});
  }

  private async open(): Promise<ReadableStreamDefaultReader<Uint8Array>> {
    const { sender, call, connection } = this;
    const { response } = await withToken(sender, async (token) => {
      connection.signal.throwIfAborted();
      return { response: await request(sender, call, token, connection.signal) };
    });
    if (!response.ok) {
      const bytes = await readBody(call.route, response, sender.maxResponseBytes, connection.signal);
      readResponse(call.route, response, bytes, sender.clock.now());
    }
    const type = response.headers.get('content-type') ?? 'of no type';
    if (!type.startsWith('text/event-stream') || response.body === null) {
      throw new Error(`the response is ${type}`);
    }
    return response.body.getReader();
  }
}
