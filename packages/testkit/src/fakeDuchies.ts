/** Three fake duchies on a real exchange. They accept uploads and report them, but do not compute. */
import { fromBinary } from '@bufbuild/protobuf';
import {
  createSigner,
  ENCRYPTION_KEY_PURPOSE,
  packEncryptionPublicKey,
  termsDigest,
} from '@measurement-exchange/consent';
import { duchyMessages, fromBase64, liquidLegionsOf } from '@measurement-exchange/contract';
import { createDevIssuer, devKeyFile } from '@measurement-exchange/exchange/devIssuer';
import {
  createClient,
  createEncryptionKeysets,
  type EncryptionKeysets,
  type ExchangeClient,
  retryOnAborted,
  secureRandom,
  type TrustedRoot,
} from '@measurement-exchange/sdk';
import { createIdentity, type Identity } from '@measurement-exchange/sdk/identity';
import { type ElGamalKeyPair, newKeyPair, publishedKey } from '@measurement-exchange/sdk/liquidLegions';
import type { ShareShuffleSettings } from '@measurement-exchange/sdk/provider';
import type { TestExchange } from './exchange.ts';
import { type FakeDuchy, startFakeDuchy } from './fakeDuchy.ts';
import { asOperator } from './operator.ts';
import { SHARE_SHUFFLE } from './shareShuffle.ts';
import { ok } from './steps.ts';

export interface DuchyOnExchange extends FakeDuchy {
  name: string;
  client: ExchangeClient;
  /** The resource name of the duchy's certificate. */
  certificate: string;
  identity: Identity;
  /** The duchy uses the same keys for every computation. */
  keys: EncryptionKeysets;
  elGamalKeys: ElGamalKeyPair;
}

export interface FakeDuchies {
  /** The first worker, the second worker and the aggregator. */
  all: DuchyOnExchange[];
  named(name: string): DuchyOnExchange;
  /** `names` and `roots` are the settings that a consumer needs to accept the duchies' results. */
  names: string[];
  roots: TrustedRoot[];
  /** A provider's settings for uploads to the duchies. */
  settings: Omit<ShareShuffleSettings, 'folder'>;
  /** Publishes the parameters of all three duchies, which providers need for their uploads. */
  setParameters(measurement: { name?: string }): Promise<void>;
  close(): Promise<void>;
}

/** Starts the three duchies, which must be registered, and creates a default population of the VIDs 1 to `people`. */
export async function startFakeDuchies(exchange: TestExchange, people: number): Promise<FakeDuchies> {
  const population = { vidRanges: [{ start: 1, end: people }], default: true };
  const { fingerprint } = await ok(
    asOperator(exchange, 'POST', 'populations?populationId=everybody', population),
  );
  const { firstWorker, secondWorker, aggregator } = SHARE_SHUFFLE;
  const all = await Promise.all([firstWorker, secondWorker, aggregator].map((name) => start(exchange, name)));
  const rooted = all.map(({ name, identity }) => [name, { rootPem: identity.root.certificatePem }]);
  return {
    all,
    names: all.map(({ name }) => name),
    roots: all.map(({ name, identity }) => ({ party: name, pem: identity.root.certificatePem })),
    named: (name) => all.find((duchy) => duchy.name === name)!,
    settings: {
      duchies: Object.fromEntries(rooted),
      populations: [fromBase64(fingerprint)!],
      allowHttp: true,
    },
    async setParameters(measurement) {
      for (const duchy of all) await setParameters(duchy, computationOf(duchy, measurement));
    },
    close: async () => void (await Promise.all(all.map((duchy) => duchy.close()))),
  };
}

export const computationOf = ({ name }: { name: string }, measurement: { name?: string }) =>
  `${name}/computations/${measurement.name!.split('/').at(-1)}`;

async function start(exchange: TestExchange, name: string): Promise<DuchyOnExchange> {
  const issuer = await createDevIssuer({ keyFile: devKeyFile(exchange.dataDir), baseUrl: exchange.url });
  const identity = await createIdentity({ party: name, commonName: name, now: Date.now(), days: 10 });
  const root = { x509Pem: identity.root.certificatePem, party: name };
  await ok(asOperator(exchange, 'POST', 'trustedRoots', root));
  const x509Pem = identity.certificatePem;
  const { name: certificate } = await ok(asOperator(exchange, 'POST', `${name}/certificates`, { x509Pem }));
  const client = createClient({ baseUrl: exchange.url, token: await issuer.mint(name) });
  const fake = await startFakeDuchy();
  await ok(asOperator(exchange, 'PATCH', name, { endpoint: fake.endpoint }));
  const [keys, elGamalKeys] = [await createEncryptionKeysets(), newKeyPair(secureRandom)];
  return Object.assign(fake, { name, client, certificate, identity, keys, elGamalKeys });
}

/**
 * Sets the duchy's parameters. After that, the duchy reports to the exchange each upload that it receives, as data for
 * this computation.
 */
async function setParameters(duchy: DuchyOnExchange, computation: string): Promise<void> {
  const { client, certificate, identity, keys, elGamalKeys } = duchy;
  const view = await client.getComputation({ name: computation });
  const { etag, role, protocolConfig } = view;
  const id = computation.split('/').at(-1)!;
  const termsSha256 = await termsDigest({
    computation: id,
    measurementSpec: view.measurementSpec.message,
    protocolConfig,
    nonceHashes: view.requisitions.map(({ nonceHash }) => nonceHash),
  });
  const context = { duchy: duchy.name, computation: id, termsSha256 };
  const signer = await createSigner(identity.privateKeyPem);
  const binding = { purpose: ENCRYPTION_KEY_PURPOSE, ...context };
  const publicKey = await signer.sign(packEncryptionPublicKey(keys.publicKeyset, binding));
  const legions = liquidLegionsOf(protocolConfig);
  const elGamalPublicKey = await signer.sign(publishedKey(elGamalKeys, context));
  const shared = role === 'AGGREGATOR' ? {} : { honestMajorityShareShuffle: { publicKey } };
  const parameters = legions ? { [legions.protocol]: { publicKey, elGamalPublicKey } } : shared;
  const body = { etag: etag!, certificate, ...parameters };
  await client.setComputationParameters({ name: computation, body });
  duchy.onStored = async ({ fulfillment }) => {
    const { requisition, nonce } = fromBinary(duchyMessages.FulfillmentSchema, fulfillment.message);
    // Retry, because the other worker may report at the same time and change the etag.
    await retryOnAborted(
      () => client.getComputation({ name: computation }),
      ({ etag }) =>
        client.fulfillComputationRequisition({
          name: computation,
          body: { etag: etag!, requisition, nonce },
        }),
    );
  };
}
