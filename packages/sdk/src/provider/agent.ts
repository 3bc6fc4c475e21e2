/** The agent of a data provider: answers its requisitions, each exactly once, whatever happens to either side. */

import { createSigner, type TrustStore } from '@measurement-exchange/consent';
import {
  type EventGroup,
  ExchangeError,
  type Requisition,
  type RequisitionState,
} from '@measurement-exchange/contract';
import { backoffMs, type Clock, systemClock } from '../client/clock.ts';
import type { ExchangeClient } from '../client/index.ts';
import type { Credentials } from '../credentials.ts';
import type { RandomSource } from '../privacy/index.ts';
import { chargesFor, computeResult, type Methodology, requireComputable } from './compute.ts';
import type { Events } from './events.ts';
import { deliver, refusalFor, sealResult } from './fulfil.ts';
import type { Answer, Ledger } from './ledger.ts';
import { type EncryptionKeys, type VerifiedRequisition, verifyRequisition } from './verify.ts';

/** Who answers, from what, and within which budget. */
export interface AgentOptions extends Omit<Methodology, 'events'> {
  client: ExchangeClient;
  credentials: Credentials;
  /** Encryption keys from before the current ones: measurements created earlier still use them. */
  earlierKeys?: EncryptionKeys[];
  /** The roots of the consumers that may ask. */
  trust: TrustStore;
  /** A function is asked before each use, and again after it failed. Population measurements need none. */
  events?: Events | (() => Promise<Events>);
  /** What the events call an event group, by its name, where that is not its `eventGroupReferenceId`. */
  references?: Readonly<Record<string, string>>;
  ledger: Ledger;
  /** How many requisitions are worked on at once; 2 unless given. */
  concurrency?: number;
  /** How long to wait before looking for new requisitions again; 2 s unless given. */
  pollMs?: number;
  random?: RandomSource;
  clock?: Clock;
  log?: (event: AgentEvent) => void;
}

/** What the agent does, as it does it. */
export type AgentEvent =
  | { type: 'unreachable'; why: string }
  | { type: 'reachable' }
  | { type: 'received'; requisition: string; measurement: string }
  | { type: 'progress'; requisition: string; percent: number }
  /** It was answered before, and the answer did not arrive or its arrival went unnoticed. */
  | { type: 'resending'; requisition: string }
  | { type: 'fulfilled'; requisition: string; ms: number }
  | { type: 'refused'; requisition: string; justification: string; message: string }
  /** Somebody else closed it. What was charged for an answer stays charged. */
  | { type: 'closed'; requisition: string; state: RequisitionState | 'DELETED'; charged: boolean }
  | { type: 'retrying'; requisition: string; attempt: number; inMs: number; why: string };

/** Answers the requisitions of a data provider. */
export interface Agent {
  /** Looks for requisitions once, and tries each of them once. Says how many were answered, and how many not. */
  once(signal?: AbortSignal): Promise<{ answered: number; failed: number }>;
  /** Goes on until the signal says otherwise, and what is under way has ended. */
  run(signal: AbortSignal): Promise<void>;
}

const POLL_MS = 2000;
const CONCURRENCY = 2;
/** An event group may be changed or deleted; a minute later that is known here. */
const EVENT_GROUP_MS = 60_000;
/** A requisition or an exchange in trouble waits five times as long as a single call: 1 s at first, 50 s at most. */
const PATIENCE = 5;

/** An agent that answers for `credentials.name` from these events, within the budget of this ledger. */
export function createAgent(options: AgentOptions): Agent {
  const { client, credentials, ledger, clock = systemClock, log = () => {} } = options;
  const { concurrency = CONCURRENCY, pollMs = POLL_MS } = options;
  const signer = createSigner(credentials.privateKeyPem);
  // Whoever awaits it first reports it.
  signer.catch(() => {});
  const fetchEventGroup = remembered(
    (name) => client.getEventGroup({ name }) as Promise<EventGroup>,
    EVENT_GROUP_MS,
    clock,
  );
  const running = new Map<string, Promise<void>>();
  /** Since the last look: what was listed before it was answered is not answered again. */
  const answered = new Set<string>();
  const done = { answered: 0, failed: 0 };
  const failures = new Map<string, { attempts: number; notBefore: number }>();

  async function methodologyFor({ selection }: VerifiedRequisition): Promise<Methodology> {
    const { population, noise, maximumFrequencyPerUser } = options;
    const events =
      typeof options.events === 'function' ? selection.events && options.events() : options.events;
    return { events: await events, population, noise, maximumFrequencyPerUser };
  }

  /** The answer as stored from now on; undefined when the requisition was closed meanwhile, and nothing is charged. */
  async function decide(requisition: Requisition, signal?: AbortSignal): Promise<Decision> {
    const name = requisition.name!;
    const watch = signal ? { signal } : {};
    try {
      const verified = await verifyRequisition(requisition, {
        name: credentials.name,
        keys: [credentials, ...(options.earlierKeys ?? [])],
        trust: options.trust,
        fetchCertificate: (certificate) => client.getCertificate({ name: certificate, ...watch }),
        fetchEventGroup,
        references: options.references,
        now: new Date(clock.now()),
      });
      const methodology = await methodologyFor(verified);
      requireComputable(verified, methodology);
      // Before the scan, which may be long; it is checked again where it is charged.
      ledger.check(chargesFor(verified, methodology));
      const { result, charges } = await computeResult(verified, {
        ...methodology,
        ...watch,
        ...(options.random && { random: options.random }),
        onProgress: (percent) => log({ type: 'progress', requisition: name, percent }),
      });
      const sealed = await sealResult(result, verified, {
        signer: await signer,
        certificate: credentials.certificate,
      });
      const fresh = await client.getRequisition({ name, ...watch });
      if (fresh.state !== 'UNFULFILLED') return { requisition: fresh };
      return { requisition: fresh, answer: ledger.commit(name, sealed, charges) };
    } catch (error) {
      const refusal = refusalFor(error);
      if (refusal === undefined) throw error;
      return { requisition, answer: ledger.commit(name, { refusal }, []) };
    }
  }

  async function handle(listed: Requisition, signal?: AbortSignal): Promise<void> {
    const name = listed.name!;
    const began = clock.now();
    const stored = ledger.answer(name);
    if (stored) log({ type: 'resending', requisition: name });
    else log({ type: 'received', requisition: name, measurement: listed.measurement ?? '' });
    const { requisition, answer } = stored
      ? { requisition: listed, answer: stored }
      : await decide(listed, signal);
    const state = answer ? await deliver(client, requisition, answer, signal) : requisition.state;
    if (answer?.refusal && state === 'REFUSED') {
      const { justification, message = '' } = answer.refusal;
      log({ type: 'refused', requisition: name, justification, message });
    } else if (answer && !answer.refusal && state === 'FULFILLED') {
      log({ type: 'fulfilled', requisition: name, ms: clock.now() - began });
    } else {
      log({ type: 'closed', requisition: name, state, charged: isCharged(answer) });
    }
  }

  /** Never rejects: what failed is tried again. */
  async function attempt(requisition: Requisition, signal?: AbortSignal): Promise<void> {
    const name = requisition.name!;
    try {
      await handle(requisition, signal);
    } catch (error) {
      if (!isGone(error)) {
        done.failed++;
        if (!signal?.aborted) retryLater(name, error);
        return;
      }
      log({ type: 'closed', requisition: name, state: 'DELETED', charged: isCharged(ledger.answer(name)) });
    }
    done.answered++;
    answered.add(name);
    failures.delete(name);
  }

  function retryLater(name: string, error: unknown): void {
    const attempts = (failures.get(name)?.attempts ?? 0) + 1;
    const inMs = Math.round(PATIENCE * backoffMs(attempts));
    failures.set(name, { attempts, notBefore: clock.now() + inMs });
    log({ type: 'retrying', requisition: name, attempt: attempts, inMs, why: whyOf(error) });
  }

  /** Starts an attempt at every open requisition that is due, as soon as there is room for it. */
  async function look(due: (name: string) => boolean, signal?: AbortSignal): Promise<void> {
    const seen = new Set<string>();
    answered.clear();
    const listing = client.listRequisitions({
      parent: credentials.name,
      'filter.states': ['UNFULFILLED'],
      ...(signal && { signal }),
    });
    for await (const requisition of listing) {
      const name = requisition.name!;
      seen.add(name);
      if (running.has(name) || answered.has(name) || !due(name)) continue;
      while (running.size >= concurrency) await Promise.race(running.values());
      signal?.throwIfAborted();
      const job = attempt(requisition, signal).finally(() => running.delete(name));
      running.set(name, job);
    }
    // What is no longer open needs no patience.
    for (const name of failures.keys()) if (!seen.has(name)) failures.delete(name);
  }

  return {
    async once(signal) {
      const before = { ...done };
      try {
        await look(() => true, signal);
      } finally {
        await Promise.all(running.values());
      }
      return { answered: done.answered - before.answered, failed: done.failed - before.failed };
    },

    async run(signal) {
      const due = (name: string) => clock.now() >= (failures.get(name)?.notBefore ?? 0);
      for (let failed = 0; !signal.aborted; ) {
        try {
          await look(due, signal);
          if (failed > 0) log({ type: 'reachable' });
          failed = 0;
        } catch (error) {
          if (signal.aborted) break;
          if (failed === 0) log({ type: 'unreachable', why: whyOf(error) });
          failed++;
        }
        const wait = failed === 0 ? pollMs : Math.max(pollMs, PATIENCE * backoffMs(failed));
        await clock.sleep(wait, signal).catch(() => {});
      }
      await Promise.all(running.values());
    },
  };
}

interface Decision {
  /** As read last. */
  requisition: Requisition;
  answer?: Answer;
}

function isCharged(answer: Answer | undefined): boolean {
  return answer !== undefined && answer.refusal === undefined;
}

/** The retention of the exchange removed it. */
function isGone(error: unknown): boolean {
  return error instanceof ExchangeError && error.reason === 'REQUISITION_NOT_FOUND';
}

function whyOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Keeps what was read for so long; what failed is not kept. */
function remembered<T>(
  read: (name: string) => Promise<T>,
  ms: number,
  clock: Clock,
): (name: string) => Promise<T> {
  const kept = new Map<string, { value: Promise<T>; until: number }>();
  return (name) => {
    for (const [key, { until }] of kept) if (until <= clock.now()) kept.delete(key);
    const known = kept.get(name)?.value;
    if (known !== undefined) return known;
    const value = read(name);
    kept.set(name, { value, until: clock.now() + ms });
    value.catch(() => kept.delete(name));
    return value;
  };
}
