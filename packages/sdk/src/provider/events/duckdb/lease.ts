/**
 * A connection to DuckDB for one piece of work, which can be canceled. Converts DuckDB's errors to EventsUnavailable or
 * QueryFailed.
 */
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { EventsUnavailable, QueryFailed } from '../errors.ts';
import type { Watch } from '../source.ts';
import { fileProblem } from './fileProblems.ts';

const BY_QUERY = /\b(Out of Memory|Parser|Binder|Not implemented|INTERNAL) Error\b/;
const POLL_MS = 100;
/** DuckDB tracks progress only for a connection with these settings. */
const PROGRESS = ['enable_progress_bar = true', 'enable_progress_bar_print = false', 'progress_bar_time = 0'];

export class Lease {
  /** Resolves when the work has ended. */
  readonly ended: Promise<void>;
  private readonly instance: DuckDBInstance;
  private readonly watch: Watch;
  private readonly closing: AbortSignal;
  private connection: DuckDBConnection | undefined;
  private timer: NodeJS.Timeout | undefined;
  private end!: () => void;
  private readonly interrupt = () => this.connection?.interrupt();

  constructor(instance: DuckDBInstance, watch: Watch, closing: AbortSignal) {
    this.instance = instance;
    this.watch = watch;
    this.closing = closing;
    this.ended = new Promise((resolve) => {
      this.end = resolve;
    });
  }

  async connect(): Promise<DuckDBConnection> {
    const { watch, closing } = this;
    const connection = await this.instance.connect();
    this.connection = connection;
    // Repeat the interrupt, because DuckDB ignores an interrupt that arrives between two statements.
    this.timer = setInterval(() => {
      if (watch.signal?.aborted || closing.aborted) connection.interrupt();
      else if (watch.onProgress && connection.progress.percentage >= 0) {
        watch.onProgress(Math.min(connection.progress.percentage, 100));
      }
    }, POLL_MS);
    watch.signal?.addEventListener('abort', this.interrupt);
    closing.addEventListener('abort', this.interrupt);
    if (watch.onProgress) for (const setting of PROGRESS) await connection.run(`SET ${setting}`);
    return connection;
  }

  /** Reports 100% progress after the work has succeeded. Throws if the work was canceled. */
  finish(): void {
    this.watch.signal?.throwIfAborted();
    this.watch.onProgress?.(100);
  }

  /** Returns the error to throw if the work fails with `error`. */
  explain(error: unknown): unknown {
    if (this.watch.signal?.aborted) return this.watch.signal.reason;
    if (this.closing.aborted) return new EventsUnavailable('The events were closed.', { cause: error });
    return translate(error);
  }

  release(): void {
    clearInterval(this.timer);
    this.watch.signal?.removeEventListener('abort', this.interrupt);
    this.closing.removeEventListener('abort', this.interrupt);
    this.connection?.closeSync();
    this.end();
  }
}

/**
 * Converts the engine's plain Errors to EventsUnavailable, or to QueryFailed if the query may have caused the error. An
 * invalid filter is never the cause, because filters are checked before they reach the engine.
 */
function translate(error: unknown): unknown {
  if (!(error instanceof Error) || error.constructor !== Error) return error;
  const problem = fileProblem(error.message);
  if (problem !== undefined) return new EventsUnavailable(problem, { cause: error });
  // The first line has the reason. The other lines quote the SQL statement.
  const reason = error.message.split('\n', 1)[0];
  if (BY_QUERY.test(reason!)) return new QueryFailed(`The query failed: ${reason}`, { cause: error });
  return new EventsUnavailable(`The events cannot be read: ${reason}`, { cause: error });
}
