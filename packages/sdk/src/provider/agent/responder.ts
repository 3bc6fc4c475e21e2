/**
 * Responds to one requisition. The order of the steps in `decide` protects the privacy budget: verify, check (without
 * reading any events), charge, compute, sign and encrypt, and store. A response is stored before it is sent, and a
 * stored response never changes. If a stored upload can no longer be sent, a refusal is sent instead.
 */
import { createSigner, type Signer } from '@measurement-exchange/consent';
import type { Requisition, RequisitionState } from '@measurement-exchange/contract';
import { messageOf } from '../../client/errors.ts';
import { chargesFor, computeResult, type Methodology, requireComputable } from '../compute.ts';
import { QueryFailed } from '../events.ts';
import { QueryStopped } from '../filter/errors.ts';
import { fulfillOrRefuse, refusalFor, type Sealing, sealResult } from '../fulfill.ts';
import type { Charge } from '../ledger/charges.ts';
import type { RequisitionResponse, Upload } from '../ledger/responses.ts';
import { type VerifiedRequisition, verifyRequisition } from '../verify.ts';
import { type AgentContext, consumerOf } from './context.ts';
import { requireRecorded } from './deferral.ts';
import type { AgentStage } from './logEvents.ts';
import { requireServed } from './served.ts';
import { createTurns, type Turns } from './turns.ts';

/**
 * The maximum number of concurrent uploads per duchy. Each duchy has its own limit, so a slow duchy does not delay the
 * uploads to other duchies.
 */
const UPLOADS_PER_DUCHY = 2;
/**
 * A requisition is refused after this many crashes of the agent or its query engine, because the requisition could be
 * the cause.
 */
const MAX_ATTEMPTS = 5;

export interface AttemptOptions {
  signal: AbortSignal | undefined;
  /**
   * Frees the slot that limits concurrent computations (see `AgentOptions.concurrency`) before the attempt ends, so
   * that another requisition can be computed during this attempt's upload.
   */
  release(): void;
}

interface Decision {
  requisition: Requisition;
  /** Absent if the requisition was closed before its events were read. */
  response?: RequisitionResponse;
  /** The full reason for a refusal. This reason is not stored, so it is lost after a restart. */
  why?: string;
}

export class Responder {
  private readonly context: AgentContext;
  private readonly signer: Promise<Signer>;
  private readonly uploads = new Map<string, Turns>();

  constructor(context: AgentContext) {
    this.context = context;
    this.signer = createSigner(context.credentials.privateKeyPem);
    // Avoid an unhandled rejection here. An invalid key is reported when the signer is first awaited.
    this.signer.catch(() => {});
  }

  /**
   * Sends the stored response. If no response is stored, decides on one and sends it. Throws `Deferred` if the
   * requisition cannot be answered yet, and another error if a retry could succeed.
   */
  async respond(listed: Requisition, attempt: AttemptOptions): Promise<void> {
    const { ledger, clock, log } = this.context;
    const name = listed.name!;
    const startTime = clock.now();
    const stored = ledger.response(name);
    if (stored) log({ type: 'resending', requisition: name });
    else log({ type: 'received', requisition: name, measurement: listed.measurement ?? '' });
    const decision = stored
      ? await this.requireSendable(listed, stored)
      : await this.decide(listed, attempt.signal);
    const { requisition, response, why } = decision;
    const state = response ? await this.send(requisition, response, attempt) : requisition.state;
    if (response?.refusal && state === 'REFUSED') {
      const { justification, message: sent = '' } = response.refusal;
      log({ type: 'refused', requisition: name, justification, message: why ?? sent, sent });
    } else if (response && !response.refusal && state === 'FULFILLED') {
      log({ type: 'fulfilled', requisition: name, ms: clock.now() - startTime });
    } else {
      log({ type: 'closed', requisition: name, state, charged: ledger.isCharged(name) });
    }
  }

  /**
   * Decides on a response and stores it. After `begin`, the requisition stays charged, because every outcome may reveal
   * something about the events, even an error or the duration of the scan.
   */
  private async decide(requisition: Requisition, signal?: AbortSignal): Promise<Decision> {
    const { client, credentials, ledger } = this.context;
    const name = requisition.name!;
    try {
      const verified = await this.verify(requisition, signal);
      const { methodology, people } = await this.check(verified, signal);
      const fresh = await client.getRequisition({ name, signal });
      if (fresh.state !== 'UNFULFILLED') return { requisition: fresh };
      this.begin(verified, chargesFor(verified, methodology, people));
      const seal = await this.compute(verified, methodology, signal);
      const sealed = await seal({ signer: await this.signer, certificate: credentials.certificate });
      return { requisition: fresh, response: ledger.commit(name, sealed) };
    } catch (error) {
      const refused = refusalOrThrow(error);
      return {
        requisition,
        ...refused,
        response: ledger.commit(name, refused.response, requisition.measurement),
      };
    }
  }

  private verify(requisition: Requisition, signal?: AbortSignal): Promise<VerifiedRequisition> {
    const { client, credentials, clock, earlierKeys = [], eventGroups, participant } = this.context;
    const { trust, references, minimumEpsilon } = this.context;
    return verifyRequisition(requisition, {
      name: credentials.name,
      keys: [credentials, ...earlierKeys],
      fetchCertificate: (certificate) => client.getCertificate({ name: certificate, signal }),
      fetchEventGroup: eventGroups.read,
      ...{ trust, references, minimumEpsilon },
      ...participant?.context(signal),
      now: new Date(clock.now()),
    });
  }

  /** Runs the checks that follow verification. They read no events. A requisition that fails here is not charged. */
  private async check(verified: VerifiedRequisition, signal?: AbortSignal) {
    const { clock, graceHours, isServed, participant } = this.context;
    const methodology = await this.methodologyFor(verified).catch((error) => {
      // Before the first events are recorded, the files can be missing. In that case, defer the requisition.
      requireRecorded(verified.selection, clock.now(), graceHours);
      throw error;
    });
    // Call `requireComputable` first, so that a requisition that can never be computed is refused now, not deferred.
    const people = await requireComputable(verified, methodology);
    requireServed(verified.selection, isServed);
    requireRecorded(verified.selection, clock.now(), graceHours);
    const onProgress = this.progressOf(verified.name, 'ordering');
    await participant?.prepare(verified, { signal, onProgress });
    // Await the signer here, so that an invalid signing key throws before anything is charged.
    await this.signer;
    return { methodology, people };
  }

  private async methodologyFor({ selection }: VerifiedRequisition): Promise<Methodology> {
    const { events, population, noise, maximumFrequencyPerUser } = this.context;
    const opened = typeof events === 'function' ? selection.events && events() : events;
    return { events: await opened, population, noise, maximumFrequencyPerUser };
  }

  /** Charges the requisition. Throws QueryStopped if earlier attempts crashed the agent or its engine too often. */
  private begin({ name, measurement }: VerifiedRequisition, charges: Charge[]): void {
    const attempts = this.context.ledger.begin(name, charges, measurement);
    if (attempts <= MAX_ATTEMPTS) return;
    throw new QueryStopped(`The agent or its engine failed ${attempts - 1} times while it computed this.`);
  }

  /** Reads the events, and returns a function that signs and encrypts the response. */
  private async compute(verified: VerifiedRequisition, methodology: Methodology, signal?: AbortSignal) {
    const { ledger, random, participant, log } = this.context;
    const { name } = verified;
    const watch = { signal, onProgress: this.progressOf(name, 'scanning') };
    try {
      if (!verified.shareShuffle && !verified.liquidLegions) {
        const result = await computeResult(verified, { ...methodology, ...watch, random });
        return (sealing: Sealing) => sealResult(result, verified, sealing);
      }
      const sign = await participant!.makeUpload(verified, methodology.events!, {
        ...watch,
        onEncrypted: this.progressOf(name, 'encrypting'),
        onWarning: (message) => log({ type: 'warning', requisition: name, message }),
      });
      return async (sealing: Sealing) => ({ upload: await sign(sealing) });
    } catch (error) {
      // Leave the attempt open in the ledger if the query may have caused the failure. An open attempt counts as a
      // crash (see MAX_ATTEMPTS).
      if (!(error instanceof QueryFailed)) ledger.end(name);
      throw error;
    }
  }

  /**
   * Returns the stored response. If the response is an upload that can no longer be sent, returns a refusal instead.
   */
  private async requireSendable(requisition: Requisition, response: RequisitionResponse): Promise<Decision> {
    try {
      if (response.upload) await this.context.participant?.requireUploadable(requisition);
      return { requisition, response };
    } catch (error) {
      return { requisition, ...refusalOrThrow(error) };
    }
  }

  private send(requisition: Requisition, response: RequisitionResponse, attempt: AttemptOptions) {
    if (response.upload) return this.upload(requisition, response.upload, attempt);
    return fulfillOrRefuse(this.context.client, requisition, response, attempt.signal);
  }

  private async upload(
    requisition: Requisition,
    upload: Upload,
    { signal, release }: AttemptOptions,
  ): Promise<RequisitionState> {
    const { participant } = this.context;
    if (!participant) throw new Error('An upload to a duchy is stored: configure its protocol again.');
    release();
    const places = this.uploads.get(upload.duchy) ?? createTurns(UPLOADS_PER_DUCHY);
    this.uploads.set(upload.duchy, places);
    const done = await places.take(consumerOf(requisition));
    try {
      signal?.throwIfAborted();
      const onProgress = this.progressOf(requisition.name!, 'uploading');
      return await participant.upload(requisition, upload, { signal, onProgress });
    } finally {
      done();
    }
  }

  private progressOf(requisition: string, stage: AgentStage) {
    return (percent: number) => this.context.log({ type: 'progress', requisition, stage, percent });
  }
}

/** Returns the refusal for a RefusalError. Rethrows every other error, so that the requisition is retried. */
function refusalOrThrow(error: unknown) {
  const refusal = refusalFor(error);
  if (refusal === undefined) throw error;
  return { response: { refusal }, why: messageOf(error) };
}
