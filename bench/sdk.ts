/** The SDK's cryptography beside the primitives it rests on. */
import { webcrypto } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import { specs, TYPE_URLS } from '@measurement-exchange/contract';
import {
  createClient,
  createConsumer,
  createEncryptionKeysets,
  createSigner,
  createTrustStore,
  decrypt,
  encrypt,
  packSignedMessage,
  parseCertificate,
  readCredentials,
  verifySignature,
} from '@measurement-exchange/sdk';
import { createRoot, issueLeaf } from '@measurement-exchange/sdk/identity';
import { startExchange } from './lib/exchange.ts';
import { figure, ratio, show } from './lib/figures.ts';
import type { Bench } from './lib/options.ts';
import { printTable, progress, type Section } from './lib/report.ts';
import { createWorld, fulfilment, request } from './lib/world.ts';

const { subtle } = webcrypto;
const MESSAGE_BYTES = 2_048;

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
      const own = await rate(run, seconds);
      const other = await rate(bare, seconds);
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

async function rate(work: () => Promise<unknown>, seconds: number): Promise<number> {
  const started = performance.now();
  let done = 0;
  for (; performance.now() - started < seconds * 1000; done++) await work();
  return (done / (performance.now() - started)) * 1000;
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

/** ECIES and HPKE alike: a fresh key pair, one ECDH, one HKDF, one AES-GCM; opening needs no fresh pair. */
async function encryptionCases(message: Uint8Array<ArrayBuffer>): Promise<Case[]> {
  const { publicKeyset, privateKeyset } = await createEncryptionKeysets();
  const ciphertext = await encrypt(publicKeyset, message);
  const curve = { name: 'ECDH', namedCurve: 'P-256' };
  const own = (await subtle.generateKey(curve, false, ['deriveBits'])) as webcrypto.CryptoKeyPair;
  const iv = new Uint8Array(12);
  const secretOf = async (privateKey: webcrypto.CryptoKey) => {
    const shared = await subtle.deriveBits({ name: 'ECDH', public: own.publicKey }, privateKey, 256);
    const hkdf = await subtle.importKey('raw', shared, 'HKDF', false, ['deriveKey']);
    const parameters = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: new Uint8Array() };
    return subtle.deriveKey(parameters, hkdf, { name: 'AES-GCM', length: 128 }, false, [
      'encrypt',
      'decrypt',
    ]);
  };
  const sealed = await subtle.encrypt({ name: 'AES-GCM', iv }, await secretOf(own.privateKey), message);
  return [
    {
      name: 'encrypt',
      run: () => encrypt(publicKeyset, message),
      yardstick: 'key pair, ECDH, HKDF, AES-GCM of WebCrypto',
      bare: async () => {
        const pair = (await subtle.generateKey(curve, false, ['deriveBits'])) as webcrypto.CryptoKeyPair;
        return subtle.encrypt({ name: 'AES-GCM', iv }, await secretOf(pair.privateKey), message);
      },
    },
    {
      name: 'decrypt',
      run: () => decrypt(privateKeyset, ciphertext),
      yardstick: 'ECDH, HKDF, AES-GCM of WebCrypto',
      bare: async () => subtle.decrypt({ name: 'AES-GCM', iv }, await secretOf(own.privateKey), sealed),
    },
  ];
}

/** consumer.open of a measurement with three results, its certificates read and trusted before. */
async function openingCase(bench: Bench): Promise<Case[]> {
  const database = await bench.server.createDatabase();
  const exchange = await startExchange({ databaseUrl: database.url });
  try {
    const { consumer: party, providers } = await createWorld(exchange, database);
    const credentials = readCredentials(party);
    const trust = createTrustStore([{ pem: exchange.dev.rootCertificatePem }]);
    // Certificates are read once: what is measured is the opening, not the exchange.
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
      ciphertext: Uint8Array;
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
      const ciphertext = await encrypt(
        credentials.encryptionPublicKey,
        packSignedMessage(signed, TYPE_URLS.MeasurementResult),
      );
      const of = createClient({ baseUrl: exchange.url, token: provider.token });
      for await (const requisition of of.listRequisitions({ parent: provider.name })) {
        if (requisition.measurement !== name) continue;
        await database.query('UPDATE requisitions SET nonce_hash = sha256(int8send(1)) WHERE id = $1', [
          requisition.name!.split('/').at(-1),
        ]);
        await of.fulfillDirectRequisition({
          name: requisition.name!,
          body: {
            ...fulfilment(provider, requisition.name!.split('/').at(-1)!),
            nonce: 1n,
            encryptedResult: { ciphertext, typeUrl: TYPE_URLS.MeasurementResult },
          },
        });
      }
      const { x509Der } = (await exchange.call(party.token, 'GET', provider.certificate)) as {
        x509Der: string;
      };
      results.push({ signed, ciphertext, der: Buffer.from(x509Der, 'base64') });
    }
    const measurement = await consumer.wait(name!);
    await consumer.open(measurement);
    const certificates = results.map(({ der }) => parseCertificate(der));
    return [
      {
        name: 'open a measurement of three results',
        run: () => consumer.open(measurement),
        yardstick: 'decrypt and verify of the SDK, three times',
        bare: () =>
          Promise.all(
            results.map(async ({ signed, ciphertext }, i) => {
              await decrypt(credentials.encryptionPrivateKey, ciphertext);
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
