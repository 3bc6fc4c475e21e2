/**
 * Makes one attempt at a stage: computes the output, stores and sends it, and advances the computation. If the attempt
 * fails, either the stage is retried later or the computation fails.
 */
import type { Computation, LogRequest } from '@measurement-exchange/contract';
import { jittered, messageOf } from '@measurement-exchange/server';
import { inSpan, type SpanOptions } from '@measurement-exchange/server/telemetry';
import type { Duchy } from '../computations/context.ts';
import { NotReady, PermanentError } from '../computations/errors.ts';
import { fail, hasEnded, isOutage, report } from '../computations/exchange.ts';
import { follow } from '../computations/follow.ts';
import { endWaitIfReady, rowOf, runAfter } from '../computations/progress.ts';
import {
  acknowledge,
  type Claim,
  finishStage,
  LeaseLost,
  readComputation,
  retryStage,
  type StoredComputation,
  type StoredMessage,
} from '../database/index.ts';
import type { StageOutcome } from '../observability/metrics.ts';
import { storedOutput, storeOutput } from '../peers/outbox.ts';
import { sendOutput } from '../peers/send.ts';
import { runStage } from '../protocols.ts';
import { Lease } from './lease.ts';
import { throttled } from './throttled.ts';

const MAX_RETRY_MS = 10 * 60_000;
/** The maximum number of attempts at a stage. If all of them fail or crash the process, the computation fails. */
const MAX_ATTEMPTS = 10;

export class Attempt {
  private readonly duchy: Duchy;
  private readonly claim: Claim;
  private readonly computation: StoredComputation;
  private readonly retryMs: number;
  private readonly stop: AbortSignal;
  private readonly lease: Lease;
  private readonly startTime = performance.now();
  private readonly about: { computation: string; stage: string; attempt: number };

  constructor(duchy: Duchy, claim: Claim, { retryMs, stop }: { retryMs: number; stop: AbortSignal }) {
    this.duchy = duchy;
    this.claim = claim;
    this.computation = claim.computation;
    this.retryMs = retryMs;
    this.stop = stop;
    this.lease = new Lease(duchy.db, claim, stop);
    const { id, stage, attempt } = claim.computation;
    this.about = { computation: id, stage, attempt };
  }

  async run(): Promise<void> {
    try {
      await inSpan(this.span(), () => this.computeAndSend());
      this.count('done');
    } catch (error) {
      await this.settle(error);
    } finally {
      this.lease.end();
    }
  }

  private span(): SpanOptions {
    const { id, stage, attempt, view } = this.computation;
    const attributes = { 'mex.party': this.duchy.name, 'mex.computation': id, 'mex.attempt': attempt };
    return { name: `stage ${stage}`, attributes, traceparent: view.traceparent };
  }

  private async computeAndSend(): Promise<void> {
    const { duchy, computation } = this;
    const { stage, attempt } = computation;
    if (attempt > MAX_ATTEMPTS) throw new PermanentError('STAGE_FAILED', { stage });
    const { sends, next } = rowOf(computation)!;
    if (sends === undefined) {
      await this.compute();
      await this.finish(next);
    } else {
      const message =
        (await storedOutput(duchy, computation, sends)) ??
        (await storeOutput(duchy, computation, sends, (await this.compute())!));
      const fresh = await sendOutput(duchy, computation, message, this.lease.signal);
      await this.finish(next, message).catch((error) => {
        // Ignore a lost lease if sending the result ended the computation. In that case, the herald may already have
        // recorded the end, which removes the lease.
        if (!(error instanceof LeaseLost && fresh !== undefined && hasEnded(fresh))) throw error;
      });
      if (fresh !== undefined) await follow(duchy, fresh);
    }
    duchy.log.info(this.about, 'stage done');
    this.report({ code: 'DONE', progress: 1 });
  }

  private compute(): Promise<Uint8Array | undefined> {
    const { duchy, computation } = this;
    const onProgress = throttled((progress) => this.report({ code: 'RUNNING', progress }));
    return runStage({ duchy, computation, signal: this.lease.signal, onProgress });
  }

  private async finish(next: string, sent?: StoredMessage): Promise<void> {
    const { claim, computation } = this;
    await this.duchy.db.tx('finishStage', async (tx) => {
      if (sent !== undefined) await acknowledge(tx, sent);
      await finishStage(tx, claim, { stage: next, runAfter: runAfter({ ...computation, stage: next }) });
      await endWaitIfReady(tx, computation.id);
    });
  }

  private async settle(error: unknown): Promise<void> {
    const { log } = this.duchy;
    if (await this.isOver()) {
      this.count('over');
      log.info(this.about, 'the computation ended while its stage ran');
    } else if (this.lease.isLost || error instanceof LeaseLost) {
      this.count('lease_lost');
      log.warn(this.about, 'lease lost; another mill has the stage');
    } else if (this.stop.aborted) {
      this.count('stopped');
      await this.retry({ delayMs: 0, error: 'stopped', counts: false });
    } else {
      let outcome: StageOutcome = outcomeOf(error, this.computation.attempt);
      try {
        if (outcome === 'failed') outcome = await this.giveUp(error);
        else await this.retryLater(error, outcome === 'waiting');
      } finally {
        this.count(outcome);
      }
    }
  }

  /** Returns whether the computation has ended. If so, its secrets are gone and the stage's error does not matter. */
  private async isOver(): Promise<boolean> {
    const stored = await readComputation(this.duchy.db, this.computation.id).catch(() => undefined);
    return stored !== undefined && stored.outcome !== null;
  }

  private async retryLater(error: unknown, waits: boolean): Promise<void> {
    const { retryMs } = this;
    const { attempt } = this.computation;
    const backoffMs = Math.min(retryMs * 2 ** (attempt - 1), MAX_RETRY_MS);
    const delayMs = jittered(waits ? waitMs(error, retryMs) : backoffMs);
    const reason = messageOf(error);
    const { detail } = error as { detail?: string };
    this.duchy.log.warn({ ...this.about, delayMs, reason, detail }, 'stage failed; it is tried again');
    await this.retry({ delayMs, error: reason, counts: !waits });
    this.report(progressOf(error, waits));
  }

  private async giveUp(error: unknown): Promise<'over' | 'failed'> {
    const { log } = this.duchy;
    const { stage } = this.computation;
    // Don't send the text of an unexpected error to other parties.
    const failure = error instanceof PermanentError ? error : new PermanentError('STAGE_FAILED', { stage });
    const end = await this.failComputation(failure);
    const line = { ...this.about, reason: messageOf(error), detail: (error as { detail?: string }).detail };
    // The stage may have failed only because the computation ended: peers reject messages for an ended computation.
    if (end === 'CANCELLED' || end === 'SUCCEEDED') {
      log.info(line, 'the computation ended while its stage ran');
      return 'over';
    }
    log.error({ ...line, stack: (error as Error).stack }, 'stage failed permanently');
    return 'failed';
  }

  /**
   * Fails the computation for all participants, and returns its final state. After an error, for example because the
   * exchange cannot be reached, schedules a retry and returns undefined.
   */
  private async failComputation(failure: PermanentError): Promise<Computation['state'] | undefined> {
    try {
      const ended = await fail(this.duchy.client, this.computation.view.name!, failure);
      await follow(this.duchy, ended);
      return ended.state;
    } catch (error) {
      await this.retry({ delayMs: jittered(this.retryMs), error: messageOf(error), counts: false });
      return undefined;
    }
  }

  private async retry(retry: Parameters<typeof retryStage>[2]): Promise<void> {
    await retryStage(this.duchy.db, this.claim, retry);
  }

  private report(entry: Omit<LogRequest, 'stage' | 'attempt'>): void {
    const { stage, attempt, view } = this.computation;
    void report(this.duchy.client, view.name!, { stage, attempt, ...entry });
  }

  private count(outcome: StageOutcome): void {
    this.duchy.metrics.stage(this.computation.stage, outcome, (performance.now() - this.startTime) / 1000);
  }
}

function outcomeOf(error: unknown, attempt: number): 'waiting' | 'retried' | 'failed' {
  // Wait if the cause is outside the stage. For example, a peer or the exchange is down or late, or the exchange
  // rejects this duchy's token.
  if (error instanceof NotReady || isOutage(error)) return 'waiting';
  return error instanceof PermanentError || attempt >= MAX_ATTEMPTS ? 'failed' : 'retried';
}

function progressOf(error: unknown, waits: boolean): Pick<LogRequest, 'code' | 'position'> {
  if (error instanceof NotReady) return { code: error.code, position: error.position };
  return { code: waits ? 'WAITS_FOR_EXCHANGE' : 'RETRIED' };
}

/**
 * Returns the delay, before jitter, until a waiting stage is tried again: the delay that the peer requested or the
 * usual delay, whichever is shorter.
 */
function waitMs(error: unknown, retryMs: number): number {
  const { retryAfterSeconds = Number.POSITIVE_INFINITY } = error as Partial<NotReady>;
  return Math.min(retryAfterSeconds * 1000, retryMs);
}
