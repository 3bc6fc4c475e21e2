/** Updates a stored computation to match the exchange's view of it. */
import { isDeepStrictEqual } from 'node:util';
import { createEncryptionKeysets } from '@measurement-exchange/consent';
import { Computation, canonicalJson, parseName } from '@measurement-exchange/contract';
import { newSeed } from '@measurement-exchange/mpc/shares';
import {
  createComputation,
  endComputation,
  type Outcome,
  readComputation,
  updateView,
} from '../database/index.ts';
import { accept } from './accept.ts';
import type { Duchy } from './context.ts';
import { PermanentError } from './errors.ts';
import { fail, hasEnded, report } from './exchange.ts';
import { protocolOf } from './plan.ts';
import { endWaitIfReady, firstStage, runAfter } from './progress.ts';

const KEY_TEMPLATE = 'DHKEM_X25519_HKDF_SHA256_HKDF_SHA256_AES_256_GCM';

/**
 * Creates, updates, or ends the stored computation to match `view`. Several processes may call this function for the
 * same computation at the same time. Throws if the caller must retry.
 */
export async function follow(duchy: Duchy, view: Computation): Promise<void> {
  const { db } = duchy;
  const id = idOf(duchy, view);
  const stored = await readComputation(db, id);
  if (stored === undefined) return hasEnded(view) ? undefined : begin(duchy, id, view);
  if (stored.outcome !== null) return;
  if (hasEnded(view)) {
    const ended = { outcome: view.state as Outcome, failure: view.failure?.message ?? null };
    if (await endComputation(db, id, { ...ended, keepsBlobs: duchy.keepsBlobs }))
      duchy.log.info({ computation: id, ...ended }, 'computation ended');
    return;
  }
  if (stored.view.etag === view.etag) return;
  // Ignore a view that another process or an upload has overtaken. It lacks what changed since then.
  if ((view.updateTime ?? '') < (stored.view.updateTime ?? '')) return;
  if (fixedPart(stored.view) !== fixedPart(view) || !keepsKeys(stored.view, view)) {
    return follow(duchy, await fail(duchy.client, view.name!, new PermanentError('COMPUTATION_CHANGED')));
  }
  await db.tx('updateView', async (tx) => {
    if (await updateView(tx, id, view)) await endWaitIfReady(tx, id);
  });
  duchy.mills.wake();
}

/** Starts a computation that is new to this duchy. Stores the computation with its secrets before any stage runs. */
async function begin(duchy: Duchy, id: string, view: Computation): Promise<void> {
  if (view.participants[duchy.name]?.state !== 'CREATED') return reportUnknown(duchy, id, view);
  try {
    const accepted = await accept(duchy, view);
    const { role, protocol } = accepted;
    const place = { role, protocol, stage: firstStage(protocol) };
    const { privateKeyset } = await createEncryptionKeysets(KEY_TEMPLATE);
    const isNew = await createComputation(duchy.db, {
      ...accepted,
      ...place,
      id,
      view,
      runAfter: runAfter(place),
      secrets: { randomSeed: newSeed(), noiseSeed: newSeed(), privateKeyset },
    });
    if (isNew) duchy.mills.wake();
    // If `isNew` is false, another process of this duchy has stored the computation, or this duchy has removed it. In
    // the second case, the exchange wrongly shows the computation as new.
    if (!isNew && (await readComputation(duchy.db, id)) === undefined) {
      duchy.log.error({ computation: id }, 'the exchange shows an ended and removed computation as new');
    }
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error;
    const { message: reason, detail } = error;
    duchy.log.error({ computation: id, reason, detail }, 'computation not accepted');
    await fail(duchy.client, view.name!, error);
  }
}

/**
 * Reports a computation that this duchy has joined, but that its database does not contain. Does not fail the
 * computation, because this process may be connected to the wrong database.
 */
async function reportUnknown({ client, log }: Duchy, id: string, view: Computation): Promise<void> {
  log.error({ computation: id }, 'this duchy takes part in a computation that its database does not have');
  const stage = firstStage(protocolOf(view));
  await report(client, view.name!, { stage, attempt: 1, code: 'DATABASE_DIFFERS' });
}

/**
 * Returns the part of a view that must not change after the duchy accepts it. This part excludes states, nonces, the
 * failure, the etag, and the update time. It also excludes keys and certificates, which `keepsKeys` checks.
 */
function fixedPart(view: Computation): string {
  const { etag: _e, updateTime: _u, failure: _f, participants, requisitions, ...rest } = view;
  return canonicalJson(Computation, {
    ...rest,
    state: 'COMPUTING',
    participants: Object.fromEntries(
      Object.entries(participants).map(([duchy, { role }]) => [duchy, { role, state: 'CREATED' as const }]),
    ),
    requisitions: requisitions.map(({ nonce: _n, ...rest }) => ({ ...rest, state: 'UNFULFILLED' as const })),
  });
}

function keepsKeys(stored: Computation, view: Computation): boolean {
  return Object.entries(stored.participants).every(([duchy, { parameters, certificate }]) => {
    const now = view.participants[duchy];
    return (
      parameters === undefined ||
      (isDeepStrictEqual(parameters, now?.parameters) && certificate === now?.certificate)
    );
  });
}

function idOf({ name }: Duchy, view: Computation): string {
  const parsed = parseName('computation', view.name ?? '');
  if (parsed === undefined || `duchies/${parsed.duchy}` !== name) {
    throw new Error(`The exchange says that ${view.name} is a computation of ${name}.`);
  }
  return parsed.computation;
}
