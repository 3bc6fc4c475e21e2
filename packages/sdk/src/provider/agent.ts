/** The agent of a data provider: fulfills or refuses each of its requisitions exactly once, also after a crash. */
import { createSigner } from '@measurement-exchange/consent';
import {
  type Change,
  type EventGroup,
  ExchangeError,
  type Protocol,
  type Requisition,
} from '@measurement-exchange/contract';
import { systemClock } from '../client/clock.ts';
import { type Follower, followChanges, type Wake } from '../client/index.ts';
import { cached } from './agent/cached.ts';
import { Deferred, defer, requireRecorded } from './agent/deferral.ts';
import type { AgentStage } from './agent/logEvents.ts';
import type { Agent, AgentOptions, RequisitionSpan } from './agent/options.ts';
import { createRetries, messageOf, retryAfterMs, retryBackoffMs } from './agent/retries.ts';
import { createIsServed, NotServed, requireServed } from './agent/served.ts';
import { createBounds, createTurns, type Turns } from './agent/turns.ts';
import { chargesFor, computeResult, type Methodology, requireComputable } from './compute.ts';
import { QueryFailed } from './events.ts';
import { QueryStopped } from './filter/errors.ts';
import { deliver, refusalFor, type Sealing, sealResult } from './fulfill.ts';
import type { RequisitionResponse } from './ledger.ts';
import { announceProtocols } from './multiParty/capabilities.ts';
import { createParticipant } from './multiParty/participant.ts';
import { awaitsDuchies } from './multiParty/verify.ts';
import { type VerifiedRequisition, verifyRequisition } from './verify.ts';

const POLL_MS = 2000;
const CONCURRENCY = 2;
/** Uploads to one duchy at a time: a slow one holds up nobody else. */
const UPLOADS_PER_DUCHY = 2;
/** Questions of one consumer that are in memory: those with direct results, and those whose upload goes to one duchy. */
const OPEN_PER_CONSUMER = { direct: 16, upload: 8 };
/** A change to an event group that the agent is not told of takes effect here after at most a minute. */
const EVENT_GROUP_CACHE_MS = 60_000;
/** A requisition during which the agent is killed, or its engine fails, more often is refused: it may be the cause. */
const MAX_ATTEMPTS = 5;

/** Creates an agent that acts as `credentials.name`, computes from these events, and charges this ledger. */
export function createAgent(options: AgentOptions): Agent {
  const { client, credentials, ledger, clock = systemClock, log = () => {} } = options;
  const { trace = (_, work) => work() } = options;
  const { concurrency = CONCURRENCY, pollMs = POLL_MS } = options;
  const signer = createSigner(credentials.privateKeyPem);
  // A bad key is reported where the signer is first awaited.
  signer.catch(() => {});
  const eventGroups = cached(
    (name) => client.getEventGroup({ name }) as Promise<EventGroup>,
    EVENT_GROUP_CACHE_MS,
    clock,
  );
  const isServed = createIsServed({
    references: options.references,
    served: options.served,
    isConfirmed: ledger.isConfirmed,
  });
  const running = new Map<string, Promise<void>>();
  const turns = createTurns(concurrency);
  /** By duchy. */
  const uploads = new Map<string, Turns>();
  /** Set where a poll left requisitions out, and there is room for them by now. */
  let hasRoom = false;
  const bounds = createBounds(() => {
    hasRoom = true;
    follower?.pollIn(0);
  });
  /** Handled since the current poll began: a listing may still show them as open. */
  const handled = new Set<string>();
  const counts = { handled: 0, failed: 0 };
  /** While it runs. */
  let follower: Follower | undefined;
  const retries = createRetries({
    clock,
    fetchEventGroup: eventGroups.read,
    isServed,
    pollIn: (ms) => follower?.pollIn(ms),
    log,
  });
  const { shareShuffle, liquidLegions } = options;
  const participant =
    shareShuffle || liquidLegions
      ? createParticipant(
          { shareShuffle, liquidLegions },
          { client, clock, name: credentials.name, rejections: ledger.rejections },
        )
      : undefined;
  /** Requisitions whose duchies are not ready. */
  const waiting = new Set<string>();
  let announced = false;

  const progressOf = (requisition: string, stage: AgentStage) => (percent: number) =>
    log({ type: 'progress', requisition, stage, percent });

  async function methodologyFor({ selection }: VerifiedRequisition): Promise<Methodology> {
    const { population, noise, maximumFrequencyPerUser } = options;
    const events =
      typeof options.events === 'function' ? selection.events && options.events() : options.events;
    return { events: await events, population, noise, maximumFrequencyPerUser };
  }

  /** Reads the events; what it returns seals the response. */
  async function compute(verified: VerifiedRequisition, methodology: Methodology, signal?: AbortSignal) {
    const { name } = verified;
    const watch = { ...(signal && { signal }), onProgress: progressOf(name, 'scanning') };
    if (!verified.shareShuffle && !verified.liquidLegions) {
      const { random } = options;
      const result = await computeResult(verified, { ...methodology, ...watch, ...(random && { random }) });
      return (sealing: Sealing) => sealResult(result, verified, sealing);
    }
    const sign = await participant!.makeUpload(verified, methodology.events!, {
      ...watch,
      onEncrypted: progressOf(name, 'encrypting'),
      onWarning: (message) => log({ type: 'warning', requisition: name, message }),
    });
    return async (sealing: Sealing) => ({ upload: await sign(sealing) });
  }

  /**
   * Computes and stores the response; there is none, and no charge, when the requisition was closed before its events
   * were to be read. From `begin` on it is charged, since every outcome may depend on the events: also an error, and
   * what was closed meanwhile, which would tell how long the scan took.
   */
  async function decide(requisition: Requisition, signal?: AbortSignal): Promise<Decision> {
    const name = requisition.name!;
    const watch = signal ? { signal } : {};
    try {
      const verified = await verifyRequisition(requisition, {
        name: credentials.name,
        keys: [credentials, ...(options.earlierKeys ?? [])],
        trust: options.trust,
        fetchCertificate: (certificate) => client.getCertificate({ name: certificate, ...watch }),
        fetchEventGroup: eventGroups.read,
        references: options.references,
        minimumEpsilon: options.minimumEpsilon,
        ...participant?.context(watch),
        now: new Date(clock.now()),
      });
      const methodology = await methodologyFor(verified).catch((error) => {
        // Where no events are recorded yet, there may be no files either.
        requireRecorded(verified.selection, clock.now(), options.graceHours);
        throw error;
      });
      // What is refused whatever is recorded is not deferred first.
      await requireComputable(verified, methodology);
      requireServed(verified.selection, isServed);
      requireRecorded(verified.selection, clock.now(), options.graceHours);
      await participant?.prepare(verified, { ...watch, onProgress: progressOf(name, 'ordering') });
      // A bad key of our own is found before anything is charged.
      await signer;
      const fresh = await client.getRequisition({ name, ...watch });
      if (fresh.state !== 'UNFULFILLED') return { requisition: fresh };
      const attempts = ledger.begin(name, chargesFor(verified, methodology));
      if (attempts > MAX_ATTEMPTS) {
        throw new QueryStopped(
          `The agent or its engine failed ${attempts - 1} times while it computed this.`,
        );
      }
      const seal = await compute(verified, methodology, signal).catch((error) => {
        // What the query itself may be at fault for counts like a kill.
        if (!(error instanceof QueryFailed)) ledger.end(name);
        throw error;
      });
      const sealed = await seal({ signer: await signer, certificate: credentials.certificate });
      return { requisition: fresh, response: ledger.commit(name, sealed) };
    } catch (error) {
      const refusal = refusalFor(error);
      if (refusal === undefined) throw error;
      return { requisition, response: ledger.commit(name, { refusal }), why: messageOf(error) };
    }
  }

  /** A stored response; a refusal where it is an upload that cannot be sent any more. */
  async function stillDeliverable(
    requisition: Requisition,
    response: RequisitionResponse,
  ): Promise<Decision> {
    try {
      if (response.upload) await participant?.requireDeliverable(requisition);
      return { requisition, response };
    } catch (error) {
      const refusal = refusalFor(error);
      if (refusal === undefined) throw error;
      return { requisition, response: { refusal }, why: messageOf(error) };
    }
  }

  /** An upload leaves the place of computing to others, and has one of its duchy instead. */
  async function send(
    requisition: Requisition,
    response: RequisitionResponse,
    { signal, release }: AttemptOptions,
  ) {
    if (!response.upload) return deliver(client, requisition, response, signal);
    if (!participant) throw new Error('An upload is stored to be sent to a duchy: set its protocol again.');
    release();
    const { duchy } = response.upload;
    const places = uploads.get(duchy) ?? createTurns(UPLOADS_PER_DUCHY);
    uploads.set(duchy, places);
    const done = await places.take(consumerOf(requisition));
    try {
      signal?.throwIfAborted();
      const onProgress = progressOf(requisition.name!, 'uploading');
      return await participant.deliver(requisition, response.upload, { signal, onProgress });
    } finally {
      done();
    }
  }

  async function handle(listed: Requisition, options: AttemptOptions): Promise<void> {
    const { signal } = options;
    const name = listed.name!;
    const startTime = clock.now();
    const stored = ledger.response(name);
    if (stored) log({ type: 'resending', requisition: name });
    else log({ type: 'received', requisition: name, measurement: listed.measurement ?? '' });
    const decision = stored ? await stillDeliverable(listed, stored) : await decide(listed, signal);
    const { requisition, response } = decision;
    const state = response ? await send(requisition, response, options) : requisition.state;
    if (response?.refusal && state === 'REFUSED') {
      const { justification, message: sent = '' } = response.refusal;
      log({ type: 'refused', requisition: name, justification, message: decision.why ?? sent, sent });
    } else if (response && !response.refusal && state === 'FULFILLED') {
      log({ type: 'fulfilled', requisition: name, ms: clock.now() - startTime });
    } else {
      log({ type: 'closed', requisition: name, state, charged: ledger.isCharged(name) });
    }
  }

  /** Handles a requisition; true where its events are not recorded yet, and it is left alone until they may be. */
  async function defers(requisition: Requisition, options: AttemptOptions): Promise<boolean> {
    const { signal } = options;
    try {
      await handle(requisition, options);
      return false;
    } catch (error) {
      if (!(error instanceof Deferred)) throw error;
      const name = requisition.name!;
      if (error instanceof NotServed) {
        const { references } = error;
        ledger.held.set({ requisition: name, measurementConsumer: consumerOf(requisition), references });
      } else ledger.held.remove(name);
      const earlier = retries.deferrals(name);
      await retries.defer(
        name,
        await defer(client, requisition, { deferred: error, earlier, clock, signal }),
        error,
      );
      return true;
    }
  }

  /** Never rejects: a failed requisition is retried later. */
  async function attempt(requisition: Requisition, options: AttemptOptions): Promise<void> {
    const { signal } = options;
    const name = requisition.name!;
    try {
      let isDeferred = false;
      await trace(spanOf(requisition), async () => {
        isDeferred = await defers(requisition, options);
      });
      if (isDeferred) return;
    } catch (error) {
      if (!isGone(error)) {
        counts.failed++;
        if (!signal?.aborted) retries.retry(name, error);
        return;
      }
      log({ type: 'closed', requisition: name, state: 'DELETED', charged: ledger.isCharged(name) });
    }
    counts.handled++;
    handled.add(name);
    ledger.held.remove(name);
    retries.delete(name);
  }

  /** Tells the exchange which protocols of duchies may be asked for here. Direct results do not wait for that. */
  async function announce(signal?: AbortSignal): Promise<boolean> {
    const supported = participant?.protocols ?? [];
    try {
      await announceProtocols(client, { name: credentials.name, supported, signal });
      return true;
    } catch (error) {
      if (participant) throw error;
      return false;
    }
  }

  /** Starts an attempt at every open requisition that is due. */
  async function poll(due: Due, signal?: AbortSignal): Promise<void> {
    hasRoom = false;
    const seen = new Set<string>();
    handled.clear();
    if (!announced) announced = await announce(signal);
    const listing = client.listRequisitions({
      parent: credentials.name,
      'filter.states': ['UNFULFILLED'],
      ...(signal && { signal }),
    });
    for await (const requisition of listing) {
      if (!isOwn(requisition)) continue;
      seen.add(requisition.name!);
      begin(requisition, due, signal);
    }
    // Requisitions that are no longer open need no retry, and no share.
    for (const name of retries.names()) if (!seen.has(name)) retries.delete(name);
    for (const name of waiting) if (!seen.has(name)) waiting.delete(name);
    ledger.held.keepOnly(seen);
    await participant?.keepOnly([...seen, ...running.keys()]);
  }

  /** Another name would be charged to this ledger, or make it somebody else's. */
  function isOwn({ name = '' }: { name?: string }): boolean {
    return name.startsWith(`${credentials.name}/requisitions/`);
  }

  /** Starts an attempt at an open requisition, if it is due, when it is its consumer's turn; none beyond the bounds. */
  function begin(requisition: Requisition, { isDue, onBegin }: Due, signal?: AbortSignal): void {
    const name = requisition.name!;
    if (running.has(name) || handled.has(name) || !isDue(name) || mustWait(requisition)) return;
    const { key, most } = boundOf(requisition);
    if (!bounds.admit(key, most)) return;
    onBegin?.(name);
    const job = inTurn(requisition, signal).finally(() => {
      running.delete(name);
      retries.arm(name);
      bounds.end(key);
    });
    running.set(name, job);
  }

  /** Never rejects. */
  async function inTurn(requisition: Requisition, signal?: AbortSignal): Promise<void> {
    const release = await turns.take(consumerOf(requisition));
    try {
      if (!signal?.aborted) await attempt(requisition, { signal, release });
    } finally {
      release();
    }
  }

  /** Starts an attempt at a requisition that changed, if that is open and due. */
  async function beginChanged(change: Change, due: Due, signal: AbortSignal): Promise<void> {
    const { name, state } = change;
    if (!isOwn(change) || state !== 'UNFULFILLED' || !due.isDue(name)) return;
    const requisition = await client.getRequisition({ name, signal }).catch((error) => {
      if (!isGone(error)) throw error;
    });
    if (requisition?.state === 'UNFULFILLED' && requisition.name === name) {
      begin(requisition, due, signal);
    }
  }

  /** Reads event groups that changed anew, and looks whether the events are recorded that were not. */
  async function readEventGroups({ changes, poll }: Wake): Promise<void> {
    const changed = new Set(changes.filter(({ kind }) => kind === 'EVENT_GROUP').map(({ name }) => name));
    for (const name of changed) eventGroups.evict(name);
    await retries.release(poll ? undefined : changed);
  }

  /** Whether the duchies of a computation are not ready; without settings for them it is refused at once. */
  function mustWait(requisition: Requisition): boolean {
    const name = requisition.name!;
    if (!awaitsDuchies(requisition) || !participant?.protocols.some(isProtocolOf(requisition))) {
      waiting.delete(name);
      return false;
    }
    if (!waiting.has(name)) log({ type: 'waiting', requisition: name });
    waiting.add(name);
    return true;
  }

  return {
    async once(signal) {
      const before = { ...counts };
      const tried = new Set<string>();
      const due: Due = { isDue: (name) => !tried.has(name), onBegin: (name) => tried.add(name) };
      try {
        await poll(due, signal);
        while (running.size > 0 || hasRoom) {
          // A poll leaves out what is beyond the bounds.
          if (hasRoom) await poll(due, signal);
          else await Promise.race(running.values());
        }
      } finally {
        await Promise.all(running.values());
      }
      return { handled: counts.handled - before.handled, failed: counts.failed - before.failed };
    },

    async run(signal) {
      const due: Due = { isDue: retries.isDue };
      follower = followChanges(client, {
        parent: credentials.name,
        kinds: ['REQUISITION', 'EVENT_GROUP'],
        signal,
        clock,
        onPolling: (why) => log({ type: 'polling', why }),
        onFollowing: () => log({ type: 'following' }),
      });
      for (let failed = 0; !signal.aborted; ) {
        try {
          const wake = await follower.next(pollMs);
          await readEventGroups(wake);
          if (wake.poll) await poll(due, signal);
          else for (const change of wake.changes) await beginChanged(change, due, signal);
          if (failed > 0) log({ type: 'reachable' });
          failed = 0;
        } catch (error) {
          if (signal.aborted) break;
          if (failed === 0) log({ type: 'unreachable', why: messageOf(error) });
          failed++;
          const waitMs = Math.max(pollMs, retryBackoffMs(failed), retryAfterMs(error));
          await clock.sleep(waitMs, signal).catch(() => {});
          follower.pollIn(0);
        }
        for (const name of retries.names()) {
          if (!running.has(name) && !waiting.has(name)) retries.arm(name);
        }
      }
      follower.close();
      await Promise.all(running.values());
    },
  };
}

/** Which requisitions may be tried now. */
interface Due {
  isDue(name: string): boolean;
  onBegin?(name: string): void;
}

interface AttemptOptions {
  signal: AbortSignal | undefined;
  /** Gives the place back before the attempt ends. */
  release(): void;
}

interface Decision {
  /** As last read. */
  requisition: Requisition;
  response?: RequisitionResponse;
  /** Why it is refused; not kept over a restart. */
  why?: string;
}

/** Which requisitions are counted together, and how many of them may be in memory. */
function boundOf(requisition: Requisition): { key: string; most: number } {
  const { protocolConfig, fulfillingDuchy } = requisition;
  const consumer = consumerOf(requisition);
  if (protocolConfig?.direct) return { key: consumer, most: OPEN_PER_CONSUMER.direct };
  return { key: `${consumer} ${fulfillingDuchy ?? ''}`, most: OPEN_PER_CONSUMER.upload };
}

function consumerOf({ measurement = '' }: Requisition): string {
  return measurement.split('/').slice(0, 2).join('/');
}

function spanOf({ name = '', dataProvider = '', traceparent }: Requisition): RequisitionSpan {
  return {
    name: 'requisition',
    attributes: { 'mex.party': dataProvider, 'mex.requisition': name },
    traceparent,
  };
}

const isProtocolOf =
  ({ protocolConfig = {} }: Requisition) =>
  (protocol: Protocol) =>
    protocolConfig[protocol] !== undefined;

/** Whether the exchange deleted the requisition because its retention period ended. */
function isGone(error: unknown): boolean {
  return error instanceof ExchangeError && error.reason === 'REQUISITION_NOT_FOUND';
}
