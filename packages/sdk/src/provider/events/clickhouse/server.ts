/** Sends statements to a ClickHouse server, and kills a statement if its result is no longer needed. */
import { randomUUID } from 'node:crypto';
import { addAbortSignal, Readable } from 'node:stream';
import { type ClickHouseClient, ClickHouseError, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { EventsUnavailable } from '../errors.ts';
import type { Watch } from '../source.ts';
import type { Parameters } from './parameters.ts';
import { brokenResponse, translate } from './problems.ts';
import type { Settings } from './settings.ts';

export interface ServerOptions {
  url: string;
  user?: string | undefined;
  /** Returns the password. Called for each statement, so that the password can be rotated. */
  password?: (() => Promise<string>) | undefined;
  /** The certificate of the authority that signed the server's certificate, in PEM. */
  ca?: string | undefined;
  settings: Settings;
  timeoutSeconds: number;
}

export interface Rows {
  columns: { name: string; type: string }[];
  rows: unknown[][];
}

const KILL_MS = 2000;
/** How long the server is allowed to stay silent beyond the time limit of a statement. */
const GRACE_MS = 30_000;
const MAX_CONNECTIONS = 64;

export class Server {
  private readonly client: ClickHouseClient;
  private readonly options: ServerOptions;
  private readonly closing = new AbortController();
  private readonly running = new Set<Promise<unknown>>();

  constructor(options: ServerOptions) {
    this.options = options;
    const { url, ca, timeoutSeconds } = options;
    this.client = createClient({
      url,
      request_timeout: timeoutSeconds * 1000 + GRACE_MS,
      max_open_connections: MAX_CONNECTIONS,
      // Log nothing, because the client's log lines contain the values of a statement.
      log: { level: ClickHouseLogLevel.OFF },
      ...(ca !== undefined && { tls: { ca_cert: Buffer.from(ca) } }),
    });
  }

  /** Runs a statement that returns few rows. 64-bit integers are returned as text. */
  async rows(sql: string, parameters: Parameters, watch: Watch): Promise<Rows> {
    const chunks: Buffer[] = [];
    for await (const chunk of this.bytes(`${sql}\nFORMAT JSONCompact`, parameters, watch)) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    // The JSON document ends with its row count, so a document that can be parsed is complete.
    const { meta, data, rows } = parsed(text);
    if (!Array.isArray(data) || rows !== data.length) throw brokenResponse(text.slice(-TAIL));
    return { columns: meta, rows: data };
  }

  /** Streams the response to a statement. Kills the statement if the caller stops reading early. */
  async *bytes(sql: string, parameters: Parameters, { signal }: Watch): AsyncGenerator<Buffer> {
    const stop = signal ? AbortSignal.any([signal, this.closing.signal]) : this.closing.signal;
    const id = randomUUID();
    let [ended, settle] = [false, () => {}];
    const job = new Promise<void>((resolve) => {
      settle = resolve;
    });
    this.running.add(job);
    try {
      this.requireOpen();
      signal?.throwIfAborted();
      const { stream } = await this.send(sql, parameters, id, stop);
      for await (const chunk of addAbortSignal(stop, stream)) yield chunk;
      ended = true;
    } catch (error) {
      ended = error instanceof ClickHouseError;
      signal?.throwIfAborted();
      this.requireOpen();
      throw translate(error);
    } finally {
      if (!ended) await this.kill(id);
      this.running.delete(job);
      settle();
    }
  }

  async close(): Promise<void> {
    this.closing.abort();
    await Promise.allSettled(this.running);
    await this.client.close();
  }

  private requireOpen(): void {
    if (this.closing.signal.aborted) throw new EventsUnavailable('The events were closed.');
  }

  /** Sends a statement. The body contains the statement's values, because servers and proxies log URLs. */
  private async send(sql: string, parameters: Parameters, id: string, signal: AbortSignal) {
    const form = new FormData();
    for (const [name, value] of Object.entries(parameters.values)) form.append(`param_${name}`, value);
    const { headers, body } = new Response(form);
    return this.client.exec({
      query: sql,
      query_id: id,
      values: Readable.fromWeb(body as never),
      http_headers: { 'Content-Type': headers.get('content-type')! },
      clickhouse_settings: this.options.settings,
      abort_signal: signal,
      ...(await this.credentials()),
    });
  }

  private async credentials() {
    const { user, password } = this.options;
    const text =
      password === undefined
        ? ''
        : await password().catch((cause: Error) => {
            throw new EventsUnavailable(`The password of events.source cannot be read: ${cause.message}`, {
              cause,
            });
          });
    return { auth: { username: user ?? 'default', password: text } };
  }

  /** Kills a statement, because closing the connection does not end every statement. */
  private async kill(id: string): Promise<void> {
    const ended = async () =>
      this.client.command({
        query: 'KILL QUERY WHERE query_id = {id:String} ASYNC',
        query_params: { id },
        abort_signal: AbortSignal.timeout(KILL_MS),
        ...(await this.credentials()),
      });
    await ended().catch(() => {});
  }
}

const TAIL = 20_000;

function parsed(text: string): { meta: { name: string; type: string }[]; data?: unknown[][]; rows?: number } {
  try {
    return JSON.parse(text);
  } catch {
    throw brokenResponse(text.slice(-TAIL));
  }
}
