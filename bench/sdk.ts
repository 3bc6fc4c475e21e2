/**
 * Compares the SDK's cryptography with the WebCrypto primitives that it uses, and the opening of a measurement with the
 * SDK's own decryption and verification.
 */
import { webcrypto } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import { decodeMeasurementSpec, specs, TYPE_URLS } from '@measurement-exchange/contract';
import {
  createClient,
  createConsumer,
  createEncryptionKeysets,
  createSigner,
  createTrustStore,
  decrypt,
  encrypt,
  findResultKeyset,
  packSignedMessage,
  parseCertificate,
  readCredentials,
  unpackEncryptionPublicKey,
  verifySignature,
} from '@measurement-exchange/sdk';
import { createRoot, issueLeaf } from '@measurement-exchange/sdk/identity';
import { startExchange } from './lib/exchange.ts';
import { figure, ratio, show } from './lib/figures.ts';
import type { Bench } from './lib/options.ts';
import { printTable, progress, type Section } from './lib/report.ts';
import { createWorld, fulfillment, nonceOf, request } from './lib/world.ts';

const { subtle } = webcrypto;
const MESSAGE_BYTES = 2_048;
const TURN_MS = 50;

interface Case {
  name: string;
  run: () => Promise<unknown>;
  yardstick: string;
  bare: () => Promise<unknown>;
}

export async function sdk(bench: Bench): Promise<Section> {
  const cases = [...(await cryptoCases()), ...(await openingCase(bench))];
  const perSecond = new Map(cases.map(({ name }) => [name, { sdk: [] as number[], bare: [] as number[] }]));
  const seconds = bench.quick ? 0.1 : 0.7;
  for (let round = 0; round <= bench.rounds; round++) {
    progress(`sdk: round ${round} of ${bench.rounds}`);
    for (const { name, run, bare } of cases) {
      const [own, other] = await rates(run, bare, seconds);
      if (round === 0) continue;
      perSecond.get(name)!.sdk.push(own);
      perSecond.get(name)!.bare.push(other);
    }
  }
  printTable(
    `SDK (operations per second, one after the other; messages of ${MESSAGE_BYTES} bytes)`,
    cases.map(({ name, yardstick }) => {
      const { sdk: own, bare } = perSecond.get(name)!;
      return {
        operation: name,
        SDK: show(figure(own)),
        yardstick,
        'of the yardstick': show(ratio(own, bare)),
        bare: show(figure(bare)),
      };
    }),
  );
  return { name: 'sdk', data: Object.fromEntries(perSecond), verdicts: [] };
}

/**
 * Returns how often per second each function completes. The functions run in short alternating turns, so that other
 * load on the machine slows both equally.
 */
async function rates(
  run: () => Promise<unknown>,
  bare: () => Promise<unknown>,
  seconds: number,
): Promise<[own: number, other: number]> {
  const turns = [run, bare].map((work) => ({ work, done: 0, ms: 0 }));
  while (turns.some(({ ms }) => ms < seconds * 1000)) {
    for (const turn of turns) {
      const started = performance.now();
      for (; performance.now() - started < TURN_MS; turn.done++) await turn.work();
      turn.ms += performance.now() - started;
    }
  }
  return turns.map(({ done, ms }) => (done / ms) * 1000) as [number, number];
}

async function cryptoCases(): Promise<Case[]> {
  const message = webcrypto.getRandomValues(new Uint8Array(MESSAGE_BYTES));
  const root = await createRoot('Bench', Date.now());
  const { der, privateKeyPem } = await issueLeaf(root, 'bench', Date.now());
  const signer = await createSigner(privateKeyPem);
  const certificate = parseCertificate(der);
  const signed = await signer.sign(message);
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  const pair = (await subtle.generateKey(algorithm, false, ['sign', 'verify'])) as webcrypto.CryptoKeyPair;
  const ecdsa = { name: 'ECDSA', hash: 'SHA-256' };
  const raw = await subtle.sign(ecdsa, pair.privateKey, message);
  return [
    {
      name: 'sign',
      run: () => signer.sign(message),
      yardstick: 'ECDSA P-256 of WebCrypto',
      bare: () => subtle.sign(ecdsa, pair.privateKey, message),
    },
    {
      name: 'verify',
      run: () => verifySignature(signed, certificate),
      yardstick: 'ECDSA P-256 of WebCrypto',
      bare: () => subtle.verify(ecdsa, pair.publicKey, raw, message),
    },
    ...(await encryptionCases(message)),
  ];
}

/**
 * Returns the cases for ECIES. The yardstick does the work that every message needs, with the recipient's keys already
 * imported. Encryption makes a new key pair and exports its public point. Decryption imports that point. Both run ECDH,
 * HKDF and AES-GCM once.
 */
async function encryptionCases(message: Uint8Array<ArrayBuffer>): Promise<Case[]> {
  const { publicKeyset, privateKeyset } = await createEncryptionKeysets();
  const ciphertext = await encrypt(publicKeyset, message);
  const curve = { name: 'ECDH', namedCurve: 'P-256' };
  const newPair = async () =>
    (await subtle.generateKey(curve, false, ['deriveBits'])) as webcrypto.CryptoKeyPair;
  const agree = (publicKey: webcrypto.CryptoKey, privateKey: webcrypto.CryptoKey) =>
    subtle.deriveBits({ name: 'ECDH', public: publicKey }, privateKey, 256);
  const aesKey = async (point: ArrayBuffer, shared: ArrayBuffer, usage: 'encrypt' | 'decrypt') => {
    const secret = Buffer.concat([new Uint8Array(point), new Uint8Array(shared)]);
    const hkdf = await subtle.importKey('raw', secret, 'HKDF', false, ['deriveKey']);
    const parameters = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: new Uint8Array() };
    return subtle.deriveKey(parameters, hkdf, { name: 'AES-GCM', length: 128 }, false, [usage]);
  };
  const own = await newPair();
  const seal = async () => {
    const pair = await newPair();
    const [point, shared] = await Promise.all([
      subtle.exportKey('raw', pair.publicKey),
      agree(own.publicKey, pair.privateKey),
    ]);
    const iv = webcrypto.getRandomValues(new Uint8Array(12));
    const key = await aesKey(point, shared, 'encrypt');
    return { point, iv, sealed: await subtle.encrypt({ name: 'AES-GCM', iv }, key, message) };
  };
  const { point, iv, sealed } = await seal();
  return [
    {
      name: 'encrypt',
      run: () => encrypt(publicKeyset, message),
      yardstick: 'key pair, ECDH, HKDF, AES-GCM of WebCrypto',
      bare: seal,
    },
    {
      name: 'decrypt',
      run: () => decrypt(privateKeyset, ciphertext),
      yardstick: 'point, ECDH, HKDF, AES-GCM of WebCrypto',
      bare: async () => {
        const theirs = await subtle.importKey('raw', point, curve, false, []);
        const key = await aesKey(point, await agree(theirs, own.privateKey), 'decrypt');
        return subtle.decrypt({ name: 'AES-GCM', iv }, key, sealed);
      },
    },
  ];
}

/**
 * Returns the case that measures `consumer.open` for a measurement with three results. The certificates of the results
 * are already read and trusted.
 */
async function openingCase(bench: Bench): Promise<Case[]> {
  const database = await bench.server.createDatabase();
  const exchange = await startExchange({ databaseUrl: database.url });
  try {
    const { consumer: party, providers } = await createWorld(exchange, database);
    const credentials = readCredentials(party);
    const trust = createTrustStore([{ pem: exchange.dev.rootCertificatePem }]);
    // Each certificate is fetched only once, so that the figure does not include the exchange.
    const read = new Map<string, Response>();
    const client = createClient({
      baseUrl: exchange.url,
      token: party.token,
      fetch: async (input, init) => {
        const url = String(input);
        if (!url.includes('/certificates/')) return fetch(input, init);
        if (!read.has(url)) read.set(url, await fetch(input, init));
        return read.get(url)!.clone();
      },
    });
    const consumer = createConsumer({ client, credentials, trust });
    const { name } = await consumer.create({ ...request(providers), type: 'reach' });
    const results: {
      signed: Awaited<ReturnType<Awaited<ReturnType<typeof createSigner>>['sign']>>;
      der: Uint8Array;
    }[] = [];
    for (const provider of providers) {
      const own = readCredentials(provider);
      const signer = await createSigner(own.privateKeyPem);
      const message = toBinary(
        specs.Measurement_ResultSchema,
        create(specs.Measurement_ResultSchema, {
          reach: {
            value: 1_000_000n,
            noiseMechanism: specs.ProtocolConfig_NoiseMechanism.GEOMETRIC,
            methodology: { case: 'deterministicCountDistinct', value: {} },
          },
        }),
      );
      const signed = await signer.sign(message);
      const of = createClient({ baseUrl: exchange.url, token: provider.token });
      for await (const requisition of of.listRequisitions({ parent: provider.name })) {
        if (requisition.measurement !== name) continue;
        const decoded = decodeMeasurementSpec(requisition.measurementSpec!.message);
        if ('error' in decoded) throw new Error(decoded.error);
        const key = unpackEncryptionPublicKey(decoded.spec.measurementPublicKey!.value);
        const ciphertext = await encrypt(key, packSignedMessage(signed, TYPE_URLS.MeasurementResult));
        await of.fulfillDirectRequisition({
          name: requisition.name!,
          body: {
            ...fulfillment(provider, requisition.name!.split('/').at(-1)!),
            nonce: await nonceOf(provider, requisition.encryptedRequisitionSpec!.ciphertext),
            encryptedResult: { ciphertext, typeUrl: TYPE_URLS.MeasurementResult },
          },
        });
      }
      const { x509Der } = (await exchange.call(party.token, 'GET', provider.certificate)) as {
        x509Der: string;
      };
      results.push({ signed, der: Buffer.from(x509Der, 'base64') });
    }
    const measurement = await consumer.wait(name!);
    await consumer.open(measurement);
    const keyset = (await findResultKeyset(credentials, measurement))!;
    const certificates = results.map(({ der }) => parseCertificate(der));
    return [
      {
        name: 'open a measurement of three results',
        run: () => consumer.open(measurement),
        yardstick: 'decrypt and verify of the SDK, three times',
        bare: () =>
          Promise.all(
            results.map(async ({ signed }, i) => {
              await decrypt(keyset, measurement.results![i]!.encryptedResult.ciphertext);
              await verifySignature(signed, certificates[i]!);
            }),
          ),
      },
    ];
  } finally {
    await exchange.stop();
    await database.drop();
  }
}
