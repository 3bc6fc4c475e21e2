/** Does the stages: takes one that is due, computes, stores, sends, and moves the computation on. */
import type { Computation, LogRequest } from '@measurement-exchange/contract';
import { inSpan, type SpanOptions } from '@measurement-exchange/server/telemetry';
import type { Duchy } from '../context.ts';
import {
  acknowledge,
  type Claim,
  claimStage,
  finishStage,
  LeaseLost,
  readComputation,
  retryStage,
} from '../database/index.ts';
import { NotReady, PermanentError } from '../errors.ts';
import { fail, hasEnded, isOutage, report } from '../exchange.ts';
import { follow } from '../herald/follow.ts';
import { messageOf, repeat } from '../loop.ts';
import type { StageOutcome } from '../observability/metrics.ts';
import { deliver } from '../peers/deliver.ts';
import { storedOutput, storeOutput } from '../peers/outbox.ts';
import { moveOn, rowOf, runAfter } from '../stages/progress.ts';
import { keepLease } from './lease.ts';
import { nowAndThen } from './progress.ts';

export interface MillOptions {
  /** Names the process in the database. */
  owner: string;
  /** A stage whose mill does not respond for so long may be taken by another; 60 s by default. */
  leaseMs?: number;
  /** Between two looks for work; 200 ms by default. */
  pollMs?: number;
  /** The first pause after a failure; 5 s by default. */
  retryMs?: number;
}

export interface Mill {
  /** Takes a stage that is due and tries it once; false when there is none. */
  once(signal?: AbortSignal): Promise<boolean>;
  /** Works until the signal is aborted; what it works on then is given back. */
  run(signal: AbortSignal): Promise<void>;
}

const LEASE_MS = 60_000;
const POLL_MS = 200;
const RETRY_MS = 5_000;
const MAX_RETRY_MS = 10 * 60_000;
/** A stage that failed, or took its process down, this often fails the computation. */
const MAX_ATTEMPTS = 10;

export function createMill(duchy: Duchy, options: MillOptions): Mill {
  const { db, log, metrics } = duchy;
  const { owner, leaseMs = LEASE_MS, pollMs = POLL_MS, retryMs = RETRY_MS } = options;

  async function once(stop: AbortSignal = new AbortController().signal): Promise<boolean> {
    const claim = await claimStage(db, { owner, leaseMs });
    if (claim === undefined) return false;
    const lease = keepLease(db, claim, stop);
    const { id, stage, attempt } = claim.computation;
    const startTime = performance.now();
    const ended = (outcome: StageOutcome) =>
      metrics.stage(stage, outcome, (performance.now() - startTime) / 1000);
    try {
      await inSpan(spanOf(claim), () => runStage(claim, lease.signal));
      ended('done');
    } catch (error) {
      if (await isOver(id)) {
        ended('over');
        log.info({ computation: id, stage, attempt }, 'the computation ended while its stage ran');
      } else if (lease.isLost() || error instanceof LeaseLost) {
        ended('lease_lost');
        log.warn({ computation: id, stage, attempt }, 'lease lost; another mill has the stage');
      } else if (stop.aborted) {
        ended('stopped');
        await retryStage(db, claim, { delayMs: 0, error: 'stopped', counts: false });
      } else {
        let outcome: StageOutcome = outcomeOf(error, attempt);
        try {
          outcome = await handle(claim, error);
        } finally {
          ended(outcome);
        }
      }
    } finally {
      lease.end();
    }
    return true;
  }

  /** Its secrets are gone then, so whatever the stage threw means nothing. */
  async function isOver(id: string): Promise<boolean> {
    const computation = await readComputation(db, id).catch(() => undefined);
    return computation !== undefined && computation.outcome !== null;
  }

  function spanOf({ computation: { id, stage, attempt, view } }: Claim): SpanOptions {
    return {
      name: `stage ${stage}`,
      attributes: { 'mex.party': duchy.name, 'mex.computation': id, 'mex.attempt': attempt },
      traceparent: view.traceparent,
    };
  }

  async function runStage(claim: Claim, signal: AbortSignal): Promise<void> {
    const { computation } = claim;
    const { id, stage, attempt, view } = computation;
    if (attempt > MAX_ATTEMPTS) throw new PermanentError('STAGE_FAILED', { stage });
    const { run, sends, next } = rowOf(computation)!;
    const work = { duchy, computation, signal, onProgress: progressOf(claim) };
    if (sends === undefined) {
      await run!(work);
      await finish(claim, next);
    } else {
      const message =
        (await storedOutput(duchy, computation, sends)) ??
        (await storeOutput(duchy, computation, sends, (await run!(work))!));
      const fresh = await deliver(duchy, computation, message, signal);
      await finish(claim, next, message).catch((error) => {
        // The result ended the computation, and the herald was faster.
        if (!(error instanceof LeaseLost && fresh !== undefined && hasEnded(fresh))) throw error;
      });
      if (fresh !== undefined) await follow(duchy, fresh);
    }
    log.info({ computation: id, stage, attempt }, 'stage done');
    void report(duchy.client, view.name!, { stage, attempt, code: 'DONE', progress: 1 });
  }

  function progressOf({ computation }: Claim): (fraction: number) => void {
    const { stage, attempt, view } = computation;
    return nowAndThen((progress) => {
      void report(duchy.client, view.name!, { stage, attempt, code: 'RUNNING', progress });
    });
  }

  /** What was sent is acknowledged, and the computation moves on: both, or neither. */
  async function finish(claim: Claim, next: string, sent?: Parameters<typeof acknowledge>[1]): Promise<void> {
    const { computation } = claim;
    await db.tx(async (tx) => {
      if (sent !== undefined) await acknowledge(tx, sent);
      await finishStage(tx, claim, { stage: next, runAfter: runAfter({ ...computation, stage: next }) });
      await moveOn(tx, computation.id);
    });
  }

  async function handle(claim: Claim, error: unknown): Promise<StageOutcome> {
    const { id, stage, attempt, view } = claim.computation;
    const outcome = outcomeOf(error, attempt);
    const reason = messageOf(error);
    const { detail } = error as { detail?: string };
    if (outcome === 'failed') {
      // What an unforeseen error says is for this duchy alone.
      const failure = error instanceof PermanentError ? error : new PermanentError('STAGE_FAILED', { stage });
      const end = await giveUp(claim, failure);
      const line = { computation: id, stage, attempt, reason, detail };
      // A peer that knows of the end first rejects what is sent to it.
      if (end === 'CANCELLED' || end === 'SUCCEEDED') {
        log.info(line, 'the computation ended while its stage ran');
        return 'over';
      }
      log.error({ ...line, stack: (error as Error).stack }, 'stage failed for good');
      return 'failed';
    }
    const waits = outcome === 'waiting';
    const delayMs = jittered(
      waits ? waitMs(error, retryMs) : Math.min(retryMs * 2 ** (attempt - 1), MAX_RETRY_MS),
    );
    log.warn({ computation: id, stage, attempt, delayMs, reason, detail }, 'stage failed; it is tried again');
    await retryStage(db, claim, { delayMs, error: reason, counts: !waits });
    void report(duchy.client, view.name!, { stage, attempt, ...waitingFor(error, waits) });
    return outcome;
  }

  /** Ends the computation for all of its participants, and returns how it ended; tried again until the exchange knows. */
  async function giveUp(claim: Claim, failure: PermanentError): Promise<Computation['state'] | undefined> {
    try {
      const ended = await fail(duchy.client, claim.computation.view.name!, failure);
      await follow(duchy, ended);
      return ended.state;
    } catch (error) {
      await retryStage(db, claim, { delayMs: jittered(retryMs), error: messageOf(error), counts: false });
      return undefined;
    }
  }

  return {
    once,
    run: (signal) => repeat('mill', () => once(signal), { everyMs: pollMs, signal, log }),
  };
}

function outcomeOf(error: unknown, attempt: number): 'waiting' | 'retried' | 'failed' {
  if (isWaiting(error)) return 'waiting';
  return error instanceof PermanentError || attempt >= MAX_ATTEMPTS ? 'failed' : 'retried';
}

/** Whether it is not the stage that failed: somebody is down, behind, or does not know this duchy's token now. */
function isWaiting(error: unknown): boolean {
  return error instanceof NotReady || isOutage(error);
}

/** What the timeline says about a stage that is tried again. */
function waitingFor(error: unknown, waits: boolean): Pick<LogRequest, 'code' | 'position'> {
  if (error instanceof NotReady) return { code: error.code, position: error.position };
  return { code: waits ? 'WAITS_FOR_EXCHANGE' : 'RETRIED' };
}

/** As long as the other asked for, unless that is longer than usual. */
function waitMs(error: unknown, retryMs: number): number {
  const { retryAfterSeconds = Number.POSITIVE_INFINITY } = error as Partial<NotReady>;
  return Math.min(retryAfterSeconds * 1000, retryMs);
}

/** So that those who failed together do not come back together. */
function jittered(ms: number): number {
  return Math.round(ms * (1 + crypto.getRandomValues(new Uint32Array(1))[0]! / 2 ** 32));
}
