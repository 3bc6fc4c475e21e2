/** Simulates providers that know how often they reached each person, and upload shares. */
import { createHash } from 'node:crypto';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  type BindingFields,
  createSigner,
  encrypt,
  packSignedMessage,
  requisitionFingerprint,
  SEED_PURPOSE,
  termsDigest,
  unpackEncryptionPublicKey,
} from '@measurement-exchange/consent';
import {
  type Duchy,
  duchyMessages,
  FULFILLMENT_PURPOSE,
  FulfillmentPart,
  type Measurement,
  type Requisition,
  specs,
  TYPE_URLS,
  toJson,
} from '@measurement-exchange/contract';
import {
  FrequencyVector,
  uploadChunks,
} from '@measurement-exchange/mpc/protocols/honestMajorityShareShuffle/provider';
import { newSeed, orderVids, VidIndex } from '@measurement-exchange/mpc/shares';
import { type Party, readRequisition, requisitionOf } from '@measurement-exchange/testkit/world';
import { sealShare } from '../sealedShare.ts';
import { type DuchyWorld, VID_RANGES } from './world.ts';

/** The number of times that a provider reached each VID. */
export type People = Map<number, number>;

export const INDEX = new VidIndex(VID_RANGES, orderVids(VID_RANGES.toSorted((a, b) => a.start - b.start)));

/** A provider's upload, whose parts a test may change. */
export interface Upload {
  url: URL;
  fulfillment: duchyMessages.Fulfillment;
  /** The bytes of the data part of the request. */
  data: Uint8Array;
  /** The key that signs the upload. */
  privateKeyPem: string;
  send(): Promise<Response>;
}

/** An upload for the share shuffle protocol. */
export interface ShareUpload extends Upload {
  /** The plaintext share, which is encrypted in `data`. */
  share: Uint8Array;
  /** Replaces the share, its encrypted data, and the announced digest and length. */
  seal(share: Uint8Array): Promise<void>;
}

export async function makeUpload(
  provider: Party,
  measurement: Measurement,
  people: People,
  {
    cap = 1,
    interval = { start: 0, width: 1 },
    seedSigner = provider.privateKeyPem,
    seedBinding = {},
  }: {
    cap?: number;
    interval?: { start: number; width: number };
    seedSigner?: string;
    seedBinding?: Partial<BindingFields>;
  } = {},
): Promise<ShareUpload> {
  const requisition = await readyRequisition(provider, measurement);
  const { spec } = await readRequisition(provider, requisition);
  const config = requisition.protocolConfig!.honestMajorityShareShuffle!;
  const { firstWorker, secondWorker, aggregator, noiseMechanism, ringModulus } = config;
  const vector = new FrequencyVector(INDEX, interval, cap);
  for (const [vid, times] of people) vector.add(vid, times);
  const seed = newSeed();
  const share = Buffer.concat([...uploadChunks(vector.frequencies, seed, config.ringModulus)]);
  const { fulfillingDuchy: worker } = requisition;
  const peer = worker === firstWorker ? secondWorker : firstWorker;
  const keysetOf = (duchy: string) =>
    unpackEncryptionPublicKey(requisition.duchies![duchy]!.honestMajorityShareShuffle!.publicKey!.message);
  const terms = await toldTerms(requisition);

  const binding = {
    ...{ purpose: SEED_PURPOSE, duchy: peer, requisition: requisition.name!, ...terms },
    ...seedBinding,
  };
  const randomSeed = toBinary(
    specs.RandomSeedSchema,
    create(specs.RandomSeedSchema, { data: seed, binding }),
  );
  const signedSeed = await (await createSigner(seedSigner)).sign(randomSeed);
  const ciphertext = await encrypt(
    keysetOf(peer),
    packSignedMessage(signedSeed, `type.googleapis.com/${specs.RandomSeedSchema.typeName}`),
  );
  const fulfillment = create(duchyMessages.FulfillmentSchema, {
    purpose: FULFILLMENT_PURPOSE,
    requisition: requisition.name!,
    requisitionFingerprint: await requisitionFingerprint(
      requisition.measurementSpec!.message,
      requisition.encryptedRequisitionSpec!.ciphertext,
    ),
    nonce: spec.nonce,
    protocol: 'honestMajorityShareShuffle',
    populationFingerprint: config.populationFingerprint,
    registerCount: BigInt(vector.frequencies.length),
    ...terms,
    duchy: worker!,
    certificate: provider.certificate,
    protocolData: {
      case: 'honestMajorityShareShuffle',
      value: {
        secretSeed: { ciphertext, typeUrl: TYPE_URLS.SignedMessage },
        ...{ firstWorker, secondWorker, aggregator, noiseMechanism, ringModulus },
      },
    },
  });
  const upload: ShareUpload = Object.assign(
    await uploadOf(provider, requisition, fulfillment, new Uint8Array()),
    {
      share,
      async seal(other: Uint8Array) {
        upload.share = other;
        upload.data = await sealShare(keysetOf(worker!), requisition.name!, other);
        upload.fulfillment.dataSha256 = createHash('sha256').update(upload.data).digest();
        upload.fulfillment.dataLength = BigInt(upload.data.length);
      },
    },
  );
  await upload.seal(share);
  return upload;
}

/**
 * Returns the ID of the computation, which equals the ID of the measurement, and the digest of the terms that the
 * provider received with the requisition.
 */
export async function toldTerms({
  measurement,
  measurementSpec,
  protocolConfig,
}: Requisition): Promise<{ computation: string; termsSha256: Uint8Array }> {
  const computation = measurement!.split('/').at(-1)!;
  const { message } = measurementSpec!;
  const { nonceHashes } = fromBinary(specs.MeasurementSpecSchema, message);
  const told = { computation, measurementSpec: message, protocolConfig: protocolConfig!, nonceHashes };
  return { computation, termsSha256: await termsDigest(told) };
}

/** Builds an upload to the duchy that fulfills this requisition. */
export async function uploadOf(
  provider: Party,
  { name, fulfillingDuchy }: Requisition,
  fulfillment: duchyMessages.Fulfillment,
  data: Uint8Array,
): Promise<Upload> {
  const { endpoint } = (await provider.client.getParty({ name: fulfillingDuchy! })) as Duchy;
  const url = new URL(`/v2alpha/${name}:fulfill`, endpoint);
  const upload: Upload = {
    url,
    fulfillment,
    data,
    privateKeyPem: provider.privateKeyPem,
    async send() {
      const signer = await createSigner(upload.privateKeyPem);
      const signed = await signer.sign(toBinary(duchyMessages.FulfillmentSchema, upload.fulfillment));
      const body = new FormData();
      body.append('fulfillment', toJson(FulfillmentPart, { fulfillment: signed }));
      body.append('data', new Blob([Uint8Array.from(upload.data)]));
      return fetch(url, { method: 'POST', body });
    },
  };
  return upload;
}

/** Returns the requisition, which must already show every duchy's key. */
export async function readyRequisition(provider: Party, { name }: Measurement): Promise<Requisition> {
  const requisition = await requisitionOf(provider, name!);
  if (requisition.duchies === undefined) throw new Error(`${requisition.name} is not ready`);
  return requisition;
}

/** Makes and sends the uploads of all providers, in the order of the providers. */
export async function uploadAll(
  world: DuchyWorld,
  measurement: Measurement,
  people: People[],
  options: Parameters<typeof makeUpload>[3] = {},
): Promise<void> {
  for (const [i, audience] of people.entries()) {
    const upload = await makeUpload(world.providers[i]!, measurement, audience, options);
    const response = await upload.send();
    if (!response.ok) throw new Error(await response.text());
  }
}

/** Returns the VIDs from `from` to `to`, each reached `times` times. */
export function people(from: number, to: number, times = 1): People {
  return new Map(Array.from({ length: to - from + 1 }, (_, i) => [from + i, times]));
}
