/** Runs one duchy's HTTP server with a real database, and with an exchange whose responses the test chooses. */

import { createHash, randomBytes, X509Certificate } from 'node:crypto';
import { Writable } from 'node:stream';
import { create, toBinary } from '@bufbuild/protobuf';
import {
  createEncryptionKeysets,
  createSigner,
  createTrustStore,
  publicKeysetOf,
  termsDigest,
} from '@measurement-exchange/consent';
import {
  type Computation,
  describeFailure,
  duchyMessages,
  ExchangeError,
  type FailRequest,
  FULFILLMENT_PURPOSE,
  FulfillmentPart,
  type SignedMessage,
  STAGE_MESSAGE_PURPOSE,
  StageMessagePart,
  toJson,
} from '@measurement-exchange/contract';
import { valuesPrefix } from '@measurement-exchange/mpc/shares/framing';
import { type ExchangeClient, Unreachable } from '@measurement-exchange/sdk';
import { createIdentity, type Identity } from '@measurement-exchange/sdk/identity';
import { listenAt, Waker } from '@measurement-exchange/server';
import { createDuchyDatabase, type DuchyDatabase } from '@measurement-exchange/testkit/duchy';
import type { Duchy } from '../../src/computations/context.ts';
import type { FaceLimits } from '../../src/config/config.ts';
import { createComputation, readSecrets } from '../../src/database/index.ts';
import { createFace } from '../../src/face/server.ts';
import { createLog } from '../../src/observability/log.ts';
import { Metrics } from '../../src/observability/metrics.ts';
import { sealShare } from '../sealedShare.ts';
import { MODULUS, makeComputation, PROVIDERS, ROLES, type TestComputation } from '../view.ts';

export const LIMITS: FaceLimits = {
  uploads: 8,
  uploadsPerParty: 2,
  uploadSeconds: 20,
  maxDataBytes: 2 ** 24,
  rejectedPerMinute: 1_000,
};
export const REGISTERS = 300;
const KEY_TEMPLATE = 'DHKEM_X25519_HKDF_SHA256_HKDF_SHA256_AES_256_GCM';

/** A stub of the exchange that knows certificates and computations. */
export class StubExchange {
  readonly certificates = new Map<string, { x509Der: Uint8Array; revocationState?: 'HOLD' | 'REVOKED' }>();
  readonly computations = new Map<string, Computation>();
  /** The names of the certificates that the duchy requested. */
  readonly asked: string[] = [];
  /** The requisitions that the duchy reported as fulfilled while the stub was up. */
  readonly reports: string[] = [];
  isDown = false;

  get client(): ExchangeClient {
    const methods = {
      getCertificate: async ({ name }: { name: string }) => {
        this.asked.push(name);
        this.requireUp();
        const found = this.certificates.get(name);
        if (found === undefined) throw new ExchangeError('CERTIFICATE_NOT_FOUND', 'No such certificate.');
        return found;
      },
      getComputation: async ({ name }: { name: string }) => {
        this.requireUp();
        return structuredClone(this.computations.get(name));
      },
      fulfillComputationRequisition: async ({
        name,
        body,
      }: {
        name: string;
        body: { requisition: string };
      }) => {
        this.requireUp();
        const computation = this.computations.get(name)!;
        computation.requisitions.find((r) => r.name === body.requisition)!.state = 'FULFILLED';
        computation.etag = randomBytes(4).toString('hex');
        computation.updateTime = new Date().toISOString().replace('Z', '000Z');
        this.reports.push(body.requisition);
        return structuredClone(computation);
      },
      failComputation: async ({ name, body }: { name: string; body: FailRequest }) => {
        this.requireUp();
        const computation = this.computations.get(name)!;
        computation.state = 'FAILED';
        const message = describeFailure(body.code, body.position);
        computation.failure = { reason: 'COMPUTATION_PARTICIPANT_FAILED', message };
        return structuredClone(computation);
      },
    };
    return methods as unknown as ExchangeClient;
  }

  private requireUp(): void {
    if (this.isDown) throw new Unreachable('The exchange is down.');
  }
}

export interface FaceWorld {
  url: string;
  duchy: Duchy;
  database: DuchyDatabase;
  exchange: StubExchange;
  identities: Record<string, Identity>;
  logs: string[];
  /** Creates a computation that waits in this stage. */
  computation(stage?: string, fulfillingDuchy?: string): Promise<TestComputation>;
  /** Counts a computation's uploads, messages, and blobs in the database. */
  kept(id: string): Promise<{ uploads: number; messages: number; blobs: number }>;
  stopFace(): Promise<void>;
  stop(): Promise<void>;
}

export async function startFaceWorld(
  name = 'duchies/alpha',
  limits: Partial<FaceLimits> = {},
  trustedProxies: string[] = [],
): Promise<FaceWorld> {
  const exchange = new StubExchange();
  const identities: Record<string, Identity> = {};
  for (const party of ['measurementConsumers/acme', ...PROVIDERS, ...Object.keys(ROLES)]) {
    const identity = await createIdentity({ party, commonName: party, now: Date.now(), days: 10 });
    identities[party] = identity;
    exchange.certificates.set(`${party}/certificates/1`, { x509Der: derOf(identity.certificatePem) });
  }
  // Leave out the duchy's own root, because a duchy does not trust its own root.
  const others = Object.entries(identities).filter(([party]) => party !== name);
  const trusted = others.map(([party, { root }]) => ({ party, pem: root.certificatePem }));
  const database = await createDuchyDatabase();
  const logs: string[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logs.push(String(chunk));
      done();
    },
  });
  const metrics = new Metrics();
  metrics.watchDatabase(database.db);
  const duchy: Duchy = {
    name,
    certificate: `${name}/certificates/1`,
    signer: await createSigner(identities[name]!.privateKeyPem),
    client: exchange.client,
    db: database.db,
    mills: new Waker(),
    trust: createTrustStore(trusted),
    noiseMechanisms: ['DISCRETE_GAUSSIAN'],
    fetch,
    log: createLog('info', sink),
    metrics,
  };
  const face = await listenAt({ host: '127.0.0.1', port: 0, tls: undefined }, (tls) =>
    createFace({ duchy, limits: { ...LIMITS, ...limits }, tls, trustedProxies }),
  );
  let made = 0;
  return {
    url: face.url,
    duchy,
    database,
    exchange,
    identities,
    logs,
    async computation(stage = 'WAIT_TO_START', fulfillingDuchy = name) {
      const computation = await makeComputation(`c${++made}`, name, fulfillingDuchy);
      const { id, view, spec } = computation;
      const about = {
        id,
        role: view.role,
        protocol: 'honestMajorityShareShuffle',
        stage,
        view,
        spec,
      } as const;
      const { privateKeyset } = await createEncryptionKeysets(KEY_TEMPLATE);
      const secrets = { privateKeyset };
      await createComputation(database.db, { ...about, registerCount: REGISTERS, secrets });
      exchange.computations.set(view.name!, structuredClone(view));
      return computation;
    },
    async kept(id) {
      const [row] = await database.query(
        `SELECT (SELECT count(*) FROM uploads WHERE computation = $1)::int AS uploads,
                (SELECT count(*) FROM messages WHERE computation = $1)::int AS messages,
                (SELECT count(*) FROM blobs WHERE computation = $1)::int AS blobs`,
        [id],
      );
      return row as { uploads: number; messages: number; blobs: number };
    },
    stopFace: face.stop,
    async stop() {
      await face.stop();
      await database.drop();
    },
  };
}

export function derOf(pem: string): Uint8Array {
  return new X509Certificate(pem).raw;
}

export const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();

/** Returns a share that has one random value for each register. Each value is below the modulus. */
export function randomShare(registers = REGISTERS): Buffer {
  const values = randomBytes(registers).map((byte) => byte % MODULUS);
  return Buffer.concat([valuesPrefix(registers), values]);
}

/** Returns the digest of the terms that all participants of a computation receive. */
export async function termsOf({ id, spec, view }: TestComputation): Promise<Uint8Array> {
  return termsDigest({
    computation: id,
    measurementSpec: spec,
    protocolConfig: view.protocolConfig,
    nonceHashes: view.requisitions.map(({ nonceHash }) => nonceHash),
  });
}

/** A valid upload, which a test can then damage. */
export interface TestUpload {
  /** The requisition in the URL path. */
  requisition: string;
  fulfillment: duchyMessages.Fulfillment;
  /** The bytes of the data part of the request. */
  data: Uint8Array;
  /** The key that signs the fulfillment. A test may replace this key, or change the signed message afterwards. */
  privateKeyPem: string;
  afterSigning: (signed: SignedMessage) => SignedMessage;
  /** If set, builds the request body in a form that differs from the usual multipart form. */
  body?: (json: string, data: Uint8Array) => BodyInit;
  headers?: Record<string, string>;
}

/** An upload for the share shuffle protocol. */
export interface TestShare extends TestUpload {
  /** The plaintext of `data`. */
  share: Uint8Array;
  /** Replaces the share, its encrypted data, and the digest, but leaves the announced length unchanged. */
  seal(share: Uint8Array): Promise<void>;
}

export async function makeUpload(world: FaceWorld, computation: TestComputation, i = 0): Promise<TestShare> {
  const { id, view, spec, nonces } = computation;
  const { privateKeyset } = await readSecrets(world.database.db, id);
  const requisition = view.requisitions[i]!;
  const config = view.protocolConfig.honestMajorityShareShuffle!;
  const { firstWorker, secondWorker, aggregator, noiseMechanism, ringModulus } = config;
  const share = randomShare();
  const keyset = publicKeysetOf(privateKeyset!);
  const data = await sealShare(keyset, requisition.name, share);
  const fulfillment = create(duchyMessages.FulfillmentSchema, {
    purpose: FULFILLMENT_PURPOSE,
    requisition: requisition.name,
    requisitionFingerprint: sha256(Buffer.concat([spec, requisition.requisitionSpecHash])),
    nonce: nonces[i]!,
    protocol: 'honestMajorityShareShuffle',
    populationFingerprint: config.populationFingerprint,
    registerCount: BigInt(REGISTERS),
    dataSha256: sha256(data),
    dataLength: BigInt(data.length),
    duchy: requisition.fulfillingDuchy,
    certificate: `${requisition.dataProvider}/certificates/1`,
    computation: id,
    termsSha256: await termsOf(computation),
    protocolData: {
      case: 'honestMajorityShareShuffle',
      value: {
        secretSeed: { ciphertext: randomBytes(100) },
        ...{ firstWorker, secondWorker, aggregator, noiseMechanism, ringModulus },
      },
    },
  });
  const upload: TestShare = {
    requisition: requisition.name,
    fulfillment,
    data,
    share,
    async seal(other) {
      upload.share = other;
      withData(upload, await sealShare(keyset, requisition.name, other));
    },
    privateKeyPem: world.identities[requisition.dataProvider]!.privateKeyPem,
    afterSigning: (signed) => signed,
  };
  return upload;
}

/** Replaces the data and its digest. */
export function withData(upload: TestUpload, data: Uint8Array): void {
  upload.data = data;
  upload.fulfillment.dataSha256 = sha256(data);
}

export async function signedFulfillment(upload: TestUpload): Promise<string> {
  const signer = await createSigner(upload.privateKeyPem);
  const signed = await signer.sign(toBinary(duchyMessages.FulfillmentSchema, upload.fulfillment));
  return toJson(FulfillmentPart, { fulfillment: upload.afterSigning(signed) });
}

export interface Answer {
  status: number;
  reason: string | undefined;
  field: string | undefined;
  body: Record<string, unknown>;
}

export async function sendUpload({ url }: FaceWorld, upload: TestUpload): Promise<Answer> {
  const json = await signedFulfillment(upload);
  const body = (upload.body ?? form('fulfillment'))(json, upload.data);
  return post(`${url}/v2alpha/${upload.requisition}:fulfill`, body, upload.headers);
}

/** Builds a multipart body with the JSON part and then the data, in the form that the duchy expects. */
export const form = (part: string) => (json: string, data: Uint8Array) => {
  const body = new FormData();
  body.append(part, json);
  body.append('data', new Blob([Uint8Array.from(data)]));
  return body;
};

/** Builds a body without the final boundary. */
export function unended(json: string, data: Uint8Array): Buffer<ArrayBuffer> {
  const header = (name: string) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`;
  return Buffer.concat([Buffer.from(`${header('fulfillment')}${json}\r\n${header('data')}`), data]);
}

export async function post(
  url: string,
  body: BodyInit,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(url, { method: 'POST', body, headers });
  return answerOf(response.status, await response.text());
}

export function answerOf(status: number, text: string): Answer {
  const body = JSON.parse(text);
  const details: Record<string, never>[] = body.error?.details ?? [];
  const detail = (type: string) =>
    details.find((d) => String(d['@type']).endsWith(`.${type}`)) as
      | { reason?: string; fieldViolations?: { field: string }[] }
      | undefined;
  return {
    status,
    reason: detail('ErrorInfo')?.reason,
    field: detail('BadRequest')?.fieldViolations?.[0]?.field,
    body,
  };
}

/** A valid message from another duchy. A test may damage the message before sending it. */
export interface TestMessage {
  /** The computation in the URL path. */
  computation: string;
  message: duchyMessages.StageMessage;
  data: Uint8Array;
  privateKeyPem: string;
  afterSigning: (signed: SignedMessage) => SignedMessage;
}

export async function makeMessage(
  world: FaceWorld,
  computation: TestComputation,
  { stage, sender }: { stage: string; sender: string },
): Promise<TestMessage> {
  const { id } = computation;
  const data = randomBytes(500);
  const message = create(duchyMessages.StageMessageSchema, {
    purpose: STAGE_MESSAGE_PURPOSE,
    computation: id,
    stage,
    sender,
    recipient: world.duchy.name,
    dataSha256: sha256(data),
    dataLength: BigInt(data.length),
    certificate: `${sender}/certificates/1`,
    termsSha256: await termsOf(computation),
  });
  const { privateKeyPem } = world.identities[sender] ?? world.identities['duchies/beta']!;
  return { computation: id, message, data, privateKeyPem, afterSigning: (signed) => signed };
}

export async function sendMessage({ url }: FaceWorld, sent: TestMessage): Promise<Answer> {
  const signer = await createSigner(sent.privateKeyPem);
  const signed = await signer.sign(toBinary(duchyMessages.StageMessageSchema, sent.message));
  const json = toJson(StageMessagePart, { message: sent.afterSigning(signed) });
  return post(`${url}/v2alpha/computations/${sent.computation}:advance`, form('message')(json, sent.data));
}
