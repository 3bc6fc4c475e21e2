/**
 * Tests both Liquid Legions protocols with an exchange and three duchies over real HTTP, without noise. Each protocol
 * computes one measurement, stage by stage. Before each stage completes, the test tries lies, repeats the stage, and
 * lets a mill die in it.
 */
import {
  createEncryptionKeysets,
  ENCRYPTION_KEY_PURPOSE,
  packEncryptionPublicKey,
  packSignedMessage,
  publicKeysetOf,
} from '@measurement-exchange/consent';
import { sealed } from '@measurement-exchange/consent/sealing';
import type {
  Computation,
  FailRequest,
  LiquidLegionsConfig,
  LiquidLegionsProtocol,
  Measurement,
} from '@measurement-exchange/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { follow } from '../../src/computations/follow.ts';
import { rowOf } from '../../src/computations/progress.ts';
import { termsOf } from '../../src/computations/terms.ts';
import {
  completeBlob,
  type Database,
  pendingComputations,
  type Row,
  readSecrets,
  type StoredComputation,
  writeBlob,
} from '../../src/database/index.ts';
import { Mill } from '../../src/mills/mill.ts';
import { received } from '../../src/peers/inbox.ts';
import { messageContext } from '../../src/peers/messageContext.ts';
import { runStage } from '../../src/protocols.ts';
import type { Work } from '../../src/stages/work.ts';
import { ALPHA, BETA, FULL, GAMMA, LIES, type PeerLie, REACH_ONLY } from './ringLies.ts';
import { expectExact, FREQUENCIES, MAXIMUM_FREQUENCY, SIZE, uploadSketches } from './sketches.ts';
import { type DuchyWorld, MILL, startDuchyWorld, type TestDuchy } from './world.ts';

const { publicKeyset: OTHER_KEYSET } = await createEncryptionKeysets();

let world: DuchyWorld;
beforeAll(async () => {
  const ring = { workers: [BETA, ALPHA], aggregator: GAMMA, ...SIZE };
  world = await startDuchyWorld({ protocols: { [REACH_ONLY]: ring, [FULL]: { ...ring, ...FREQUENCIES } } });
});
afterAll(async () => {
  expect(await world.stop()).toEqual([]);
});

const ask = (protocol: LiquidLegionsProtocol) =>
  world.ask(protocol === FULL ? { type: 'reachAndFrequency', maximumFrequency: MAXIMUM_FREQUENCY } : {});

async function pending({ duchy }: TestDuchy): Promise<StoredComputation | undefined> {
  return (await pendingComputations(duchy.db))[0];
}

const workOf = ({ duchy }: TestDuchy, computation: StoredComputation): Work => ({
  ...{ duchy, computation, onProgress: () => {} },
  signal: new AbortController().signal,
});

/** Wraps a database so that each row that the statement with this name returns is replaced by `change(row)`. */
function readingOthers(db: Database, statement: string, change: (row: Row) => Row): Database {
  return new Proxy(db, {
    get(target, member: keyof Database) {
      if (member !== 'query') return target[member];
      return async (...args: Parameters<Database['query']>) => {
        const rows = await target.query(...args);
        return args[0].name === statement ? (rows as Row[]).map(change) : rows;
      };
    },
  });
}

/** Runs a stage after changing the content of one message that the stage reads. Returns the outcome. */
async function answerTo(at: TestDuchy, computation: StoredComputation, { message, from, spoil }: PeerLie) {
  const { duchy } = at;
  const honest = Buffer.concat(await Array.fromAsync(received(duchy, computation, message, from)));
  const { privateKeyset } = await readSecrets(duchy.db, computation.id);
  const blob = await writeBlob(
    duchy.db,
    computation.id,
    sealed(
      publicKeysetOf(privateKeyset!),
      messageContext({ computation: computation.id, stage: message, sender: from, recipient: duchy.name }),
      spoil(honest),
    ),
  );
  await duchy.db.tx('test', (tx) => completeBlob(tx, blob.id, computation.id));
  const db = readingOthers(duchy.db, 'messagesOf', (row) =>
    row.direction === 'IN' && row.stage === message && row.peer === from ? { ...row, blob: blob.id } : row,
  );
  return rejection(runStage({ ...workOf(at, computation), duchy: { ...duchy, db } }));
}

/**
 * Returns the error: the message that all parties see, and the detail or cause that only this duchy knows. Returns
 * 'accepted' if there is no error.
 */
async function rejection(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'accepted';
  } catch (error) {
    const { name, message, detail, cause } = error as Error & { detail?: string };
    return `${name}: ${message} ${detail ?? (cause as Error | undefined)?.message ?? ''}`;
  }
}

/**
 * Shows the duchy a changed view of a computation that it has accepted. Returns the code of the failure that the duchy
 * reports, or 'accepted'.
 */
async function answerToView(
  { duchy }: TestDuchy,
  { view }: StoredComputation,
  change: (view: Computation) => unknown,
) {
  const changed = structuredClone({ ...view, etag: 'another' });
  change(changed);
  let answer = 'accepted';
  const failComputation = async ({ body }: { body: FailRequest }) => {
    answer = body.code;
    return view;
  };
  await follow({ ...duchy, client: { ...duchy.client, failComputation } as typeof duchy.client }, changed);
  return answer;
}

/** Returns every stored message to another duchy, as text. */
async function outputs({ query }: TestDuchy): Promise<string[]> {
  const rows = await query(
    `SELECT m.stage || ' ' || encode(m.signed_message, 'hex') || encode(b.sha256, 'hex') AS output
     FROM messages m JOIN blobs b ON b.id = m.blob WHERE m.direction = 'OUT' AND m.signed_message IS NOT NULL`,
  );
  return rows.map(({ output }) => output as string).sort();
}

describe.each([REACH_ONLY, FULL] as const)('%s', (protocol) => {
  let measurement: Measurement;
  const answers = new Map<string, string>();
  /** Stages whose repetition gave the same output. */
  const repeated: string[] = [];
  const resent: string[] = [];
  const late = (name: string) => `later ${name}`;
  const keyOf = ({ to, message, from, what }: PeerLie) => `${to} ${message} ${from} ${what}`;

  /** Tries lies, repeats the stage, and lets a mill die in it. Afterward, the computation can continue normally. */
  async function tryAt(at: TestDuchy, computation: StoredComputation): Promise<void> {
    const { sends } = rowOf(computation)!;
    const { name } = at.duchy;
    if (computation.stage === 'CONFIRMATION_PHASE' && name === GAMMA) await tryViews(at, computation);
    if (computation.stage === 'CONFIRMATION_PHASE') await tryUploads(at, computation);
    if (sends === undefined) return;
    const messages = new Set(
      (await at.query("SELECT stage FROM messages WHERE direction = 'IN'")).map((m) => m.stage),
    );
    for (const each of LIES[protocol]) {
      if (each.to !== name || answers.has(keyOf(each)) || !messages.has(each.message)) continue;
      answers.set(keyOf(each), await answerTo(at, computation, each));
    }
    if (sends.message === 'RESULT') return;
    const [once, again] = [await runStage(workOf(at, computation)), await runStage(workOf(at, computation))];
    if (Buffer.from(once!).equals(again!)) repeated.push(`${name} ${computation.stage}`);
    // Let a mill die after it has stored its output. The next mill must send the same output.
    const fetch = () => Promise.reject(new Error('dies'));
    await new Mill({ ...at.duchy, fetch }, MILL).once();
    const stored = await outputs(at);
    await at.query('UPDATE computations SET run_after = now() WHERE outcome IS NULL');
    await at.mill.once();
    const sent = await outputs(at);
    if (stored.length > 0 && stored.join() === sent.join()) resent.push(`${name} ${computation.stage}`);
  }

  /**
   * Tries damaged uploads at a worker that received at least one upload. Random IDs decide which workers receive
   * uploads.
   */
  async function tryUploads(at: TestDuchy, computation: StoredComputation): Promise<void> {
    const taken = await at.query('SELECT requisition FROM uploads WHERE computation = $1', [computation.id]);
    if (taken.length === 0) return;
    const { id } = await writeBlob(at.duchy.db, computation.id, sealed(OTHER_KEYSET, 'x', new Uint8Array(9)));
    await at.duchy.db.tx('test', (tx) => completeBlob(tx, id, computation.id));
    const signed = packSignedMessage(
      { message: new Uint8Array(9), signature: new Uint8Array(64), signatureAlgorithm: 'ECDSA_WITH_SHA256' },
      'type.googleapis.com/mex.contract.Fulfillment',
    );
    const uploads: Record<string, Row> = {
      'other bytes': { blob: id },
      'a certificate of another provider': { certificate: 'dataProviders/mallory/certificates/1' },
      'another signature': { signed_fulfillment: signed },
    };
    for (const [what, change] of Object.entries(uploads)) {
      const db = readingOthers(at.duchy.db, 'uploadsOf', (row) => ({ ...row, ...change }));
      const work = { ...workOf(at, computation), duchy: { ...at.duchy, db } };
      answers.set(`upload ${what}`, await rejection(runStage(work)));
    }
  }

  async function tryViews(at: TestDuchy, computation: StoredComputation): Promise<void> {
    const config = (view: Computation) => view.protocolConfig[protocol] as LiquidLegionsConfig;
    const keys = (view: Computation, duchy: string) => view.participants[duchy]!.parameters![protocol]!;
    const views: Record<string, (view: Computation) => unknown> = {
      'another key of a duchy': (v) => (keys(v, ALPHA).elGamalPublicKey = keys(v, BETA).elGamalPublicKey),
      'another certificate of a duchy': (v) =>
        (v.participants[ALPHA]!.certificate = v.participants[BETA]!.certificate),
      'another order of the ring': (v) => config(v).workers.reverse(),
      'another size': (v) => (config(v).maxSize += 1),
      'less to hide': (v) => (config(v).histogramPrivacyParams.epsilon = 1e-3),
      'another spec': (v) => (v.measurementSpec.message = v.measurementSpec.message.with(-1, 7)),
      'a requisition less': (v) => v.requisitions.pop(),
    };
    for (const [what, change] of Object.entries(views)) {
      answers.set(late(what), await answerToView(at, computation, change));
    }
    const view = structuredClone(computation.view);
    view.requisitions[0]!.nonce = 1n;
    answers.set('nonce', await rejection(runStage(workOf(at, { ...computation, view }))));
    await tryMessageKeys(at, computation);
  }

  /**
   * Replaces Alpha's message key with keys that Alpha signed for the right terms, other terms, another computation or
   * another duchy. Alpha's ElGamal key stays the same.
   */
  async function tryMessageKeys(at: TestDuchy, computation: StoredComputation): Promise<void> {
    const { signer } = world.named(ALPHA).duchy;
    const bound = { duchy: ALPHA, computation: computation.id, termsSha256: await termsOf(computation) };
    const bindings: Record<string, object> = {
      'no other terms': {},
      'other terms': { termsSha256: new Uint8Array(32) },
      'another computation': { computation: 'another' },
      'another duchy': { duchy: BETA },
    };
    for (const [what, change] of Object.entries(bindings)) {
      const view = structuredClone(computation.view);
      const binding = { purpose: ENCRYPTION_KEY_PURPOSE, ...bound, ...change };
      view.participants[ALPHA]!.parameters![protocol]!.publicKey = await signer.sign(
        packEncryptionPublicKey(OTHER_KEYSET, binding),
      );
      const confirmParticipation = async () => view;
      const client = { ...at.duchy.client, confirmParticipation } as typeof at.duchy.client;
      const work = { ...workOf(at, { ...computation, view }), duchy: { ...at.duchy, client } };
      answers.set(`key for ${what}`, await rejection(runStage(work)));
    }
  }

  beforeAll(async () => {
    measurement = await ask(protocol);
    await world.turn();
    await uploadSketches(world, measurement);
    const isPending = async () =>
      (await Promise.all(world.duchies.map(pending))).some((each) => each !== undefined);
    for (let turns = 0; turns < 60 && (await isPending()); turns++) {
      for (const duchy of world.duchies) {
        await duchy.herald.once();
        const computation = await pending(duchy);
        if (computation === undefined || rowOf(computation)?.run === undefined) continue;
        await tryAt(duchy, computation);
        await duchy.mill.once();
      }
    }
  });

  test('computes exactly the figures of the union of the sketches', async () => {
    await expectExact(world, measurement);
    for (const { query } of world.duchies) {
      expect(await query('SELECT 1 FROM computations WHERE outcome IS NULL OR interim IS NOT NULL')).toEqual(
        [],
      );
    }
  });

  const STAGES = {
    [REACH_ONLY]: [ALPHA, BETA]
      .flatMap((w) => [`${w} SETUP_PHASE`, `${w} EXECUTION_PHASE`])
      .concat(`${GAMMA} SETUP_PHASE`),
    [FULL]: [ALPHA, BETA, GAMMA]
      .flatMap((duchy) =>
        ['SETUP_PHASE', 'EXECUTION_PHASE_ONE', 'EXECUTION_PHASE_TWO', 'EXECUTION_PHASE_THREE'].map(
          (s) => `${duchy} ${s}`,
        ),
      )
      .filter((s) => s !== `${GAMMA} EXECUTION_PHASE_THREE`),
  };

  test('a stage that is repeated computes the same bytes', () => {
    expect(repeated.toSorted()).toEqual(STAGES[protocol].toSorted());
  });

  test('after a mill died between storing and sending, the next mill sends the same bytes', () => {
    expect(resent.toSorted()).toEqual(STAGES[protocol].toSorted());
  });

  test.each(
    LIES[protocol].map(
      (each) => [`${each.message} of ${each.from} to ${each.to}: ${each.what}`, each] as const,
    ),
  )('fails permanently on a false message: %s', (_what, each) => {
    expect(answers.get(keyOf(each))).toMatch(/^PermanentError: /);
    expect(answers.get(keyOf(each))).toMatch(each.says);
  });

  test.each([
    'another key of a duchy',
    'another certificate of a duchy',
    'another order of the ring',
    'another size',
    'less to hide',
    'another spec',
    'a requisition less',
  ])('fails with COMPUTATION_CHANGED if the exchange later shows %s', (what) => {
    expect(answers.get(late(what))).toBe('COMPUTATION_CHANGED');
  });

  test.each([
    ['other bytes', /UPLOAD_INVALID at dataSha256 of dataProviders/],
    ['a certificate of another provider', /CERTIFICATE_FOREIGN at dataProviders/],
    ['another signature', /SIGNATURE_INVALID at dataProviders\/\w+\/requisitions/],
  ])('is not confirmed if a stored upload has %s', (what, says) => {
    expect(answers.get(`upload ${what}`)).toMatch(/^PermanentError: /);
    expect(answers.get(`upload ${what}`)).toMatch(says);
  });

  test.each([
    ['other terms', /TERMS_MISMATCH at publicKey of duchies\/alpha/],
    ['another computation', /TERMS_MISMATCH at publicKey of duchies\/alpha/],
    ['another duchy', /TERMS_MISMATCH at publicKey of duchies\/alpha/],
  ])('is not confirmed if the key for messages to a duchy was signed for %s', (what, says) => {
    expect(answers.get('key for no other terms')).toBe('accepted');
    expect(answers.get(`key for ${what}`)).toMatch(says);
  });

  test('is not confirmed with a nonce that does not match its hash', () => {
    expect(answers.get('nonce')).toMatch(/PermanentError: NONCE_MISMATCH at dataProviders/);
  });
});
