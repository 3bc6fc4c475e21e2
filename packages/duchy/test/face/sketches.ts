/** Creates computations with sketches, and valid uploads for these computations, to test one duchy's HTTP server. */
import { createECDH, randomBytes } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import {
  type BindingFields,
  createEncryptionKeysets,
  createSigner,
  ENCRYPTION_KEY_PURPOSE,
  packEncryptionPublicKey,
} from '@measurement-exchange/consent';
import {
  duchyMessages,
  FULFILLMENT_PURPOSE,
  type LiquidLegionsConfig,
  type LiquidLegionsProtocol,
} from '@measurement-exchange/contract';
import {
  Curve,
  combineKeys,
  type ElGamalKeyPair,
  FREQUENCY_REGISTER_BYTES,
  Keystream,
  newKeyPair,
  POINT_BYTES,
  publishedKey,
  REACH_REGISTER_BYTES,
} from '@measurement-exchange/sdk/liquidLegions';
import { createComputation } from '../../src/database/index.ts';
import { termsOf } from '../terms.ts';
import { makeComputation, REACH_AND_FREQUENCY, type TestComputation } from '../view.ts';
import { termsOf as digestOf, type FaceWorld, sha256, type TestUpload } from './world.ts';

export const REGISTERS = 5;
const HIDING = { epsilon: 0.1, delta: 1e-9 };
const CONFIG: LiquidLegionsConfig = {
  workers: ['duchies/alpha', 'duchies/beta'],
  aggregator: 'duchies/gamma',
  noiseMechanism: 'DISCRETE_GAUSSIAN',
  decayRate: 12,
  maxSize: REGISTERS,
  histogramPrivacyParams: HIDING,
  publisherPrivacyParams: HIDING,
};
const CONFIGS = {
  reachOnlyLiquidLegionsV2: CONFIG,
  liquidLegionsV2: { ...CONFIG, samplingIndicatorSize: 1000, maximumFrequency: 10 },
};

export interface LegionsComputation extends TestComputation {
  protocol: LiquidLegionsProtocol;
  /** The public key points of the duchies, by duchy name. */
  keys: Record<string, Uint8Array>;
}

const SEED = new Uint8Array(48).fill(1);
/** The key pair of the duchy whose HTTP server is tested. */
export const OWN_PAIR = newKeyPair(new Keystream(SEED));
export const randomPair = (): ElGamalKeyPair => newKeyPair({ bytes: randomBytes });

export function randomPoint(): Uint8Array {
  const ecdh = createECDH('prime256v1');
  ecdh.generateKeys();
  return ecdh.getPublicKey(null, 'compressed');
}

export const points = (count: number): Buffer => Buffer.concat(Array.from({ length: count }, randomPoint));

/**
 * Creates a computation whose uploads the tested duchy receives. `change` alters the exchange's view before the view is
 * stored.
 */
export async function makeLegions(
  world: FaceWorld,
  protocol: LiquidLegionsProtocol,
  {
    pairs = {},
    bindings = {},
    change = () => {},
    stage = 'WAIT_REQUISITIONS_AND_KEY_SET',
  }: LegionsOptions = {},
): Promise<LegionsComputation> {
  const { duchy, identities } = world;
  const id = `l${world.exchange.computations.size + 1}`;
  const type = protocol === 'liquidLegionsV2' ? REACH_AND_FREQUENCY : undefined;
  const computation = await makeComputation(id, duchy.name, duchy.name, type);
  const { view, spec } = computation;
  view.role = 'WORKER';
  view.protocolConfig = { [protocol]: structuredClone(CONFIGS[protocol]) };
  const keys: Record<string, Uint8Array> = {};
  const termsSha256 = await digestOf(computation);
  for (const [name, participant] of Object.entries(view.participants)) {
    const pair = pairs[name] ?? (name === duchy.name ? OWN_PAIR : randomPair());
    keys[name] = pair.publicKey;
    const signer = await createSigner(identities[name]!.privateKeyPem);
    const { publicKeyset } = await createEncryptionKeysets();
    const context = { duchy: name, computation: id, termsSha256, ...bindings[name] };
    const binding = { purpose: ENCRYPTION_KEY_PURPOSE, ...context };
    participant.role = name === CONFIG.aggregator ? 'AGGREGATOR' : 'WORKER';
    participant.parameters = {
      [protocol]: {
        publicKey: await signer.sign(packEncryptionPublicKey(publicKeyset, binding)),
        elGamalPublicKey: await signer.sign(publishedKey(pair, context)),
      },
    };
  }
  change(view);
  await createComputation(world.database.db, {
    ...{ id, role: 'WORKER', protocol, stage, view, spec },
    registerCount: REGISTERS,
    secrets: { randomSeed: SEED, noiseSeed: SEED },
  });
  world.exchange.computations.set(view.name!, structuredClone(view));
  return { ...computation, protocol, keys };
}

interface LegionsOptions {
  /** Key pairs by duchy name. They replace the default key pairs of these duchies. */
  pairs?: Record<string, ElGamalKeyPair>;
  /** Fields by duchy name. They replace the correct fields in the bindings of these duchies' keys. */
  bindings?: Record<string, Partial<BindingFields>>;
  change?: (view: TestComputation['view']) => unknown;
  stage?: string;
}

const REGISTER_BYTES = {
  reachOnlyLiquidLegionsV2: REACH_REGISTER_BYTES,
  liquidLegionsV2: FREQUENCY_REGISTER_BYTES,
};

/** Makes a valid upload, which a test can then damage. */
export async function makeSketch(
  world: FaceWorld,
  computation: LegionsComputation,
  i = 0,
): Promise<TestUpload> {
  const { view, spec, nonces, protocol } = computation;
  const requisition = view.requisitions[i]!;
  const config = CONFIGS[protocol];
  const data = points((REGISTERS * REGISTER_BYTES[protocol]) / POINT_BYTES);
  const fulfillment = create(duchyMessages.FulfillmentSchema, {
    purpose: FULFILLMENT_PURPOSE,
    requisition: requisition.name,
    requisitionFingerprint: sha256(Buffer.concat([spec, requisition.requisitionSpecHash])),
    nonce: nonces[i]!,
    protocol,
    registerCount: BigInt(REGISTERS),
    dataSha256: sha256(data),
    dataLength: BigInt(data.length),
    duchy: requisition.fulfillingDuchy,
    certificate: `${requisition.dataProvider}/certificates/1`,
    computation: computation.id,
    termsSha256: await digestOf(computation),
    protocolData: { case: 'liquidLegions', value: termsOf(config, combined(computation)) },
  });
  return {
    requisition: requisition.name,
    fulfillment,
    data,
    privateKeyPem: world.identities[requisition.dataProvider]!.privateKeyPem,
    afterSigning: (signed) => signed,
  };
}

function combined({ keys }: LegionsComputation): Uint8Array {
  try {
    return combineKeys(new Curve(1), Object.values(keys));
  } catch {
    // Invalid keys have no combined key, so any point will do.
    return randomPoint();
  }
}
