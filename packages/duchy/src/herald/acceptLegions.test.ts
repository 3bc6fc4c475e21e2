/** Computations with sketches: which a duchy takes part in. */
import { createSigner } from '@measurement-exchange/consent';
import type { Computation, LiquidLegionsConfig, LiquidLegionsProtocol } from '@measurement-exchange/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Accepting, CONSUMER, PRIVACY, type SpecInit, startAccepting } from '../../test/accepting.ts';
import { PermanentError } from '../errors.ts';
import { accept } from './accept.ts';

const HIDING = { epsilon: 0.1, delta: 1e-9 };
const CONFIG: LiquidLegionsConfig = {
  workers: ['duchies/alpha', 'duchies/beta'],
  aggregator: 'duchies/gamma',
  noiseMechanism: 'DISCRETE_GAUSSIAN',
  decayRate: 12,
  maxSize: 1000,
  histogramPrivacyParams: HIDING,
  publisherPrivacyParams: HIDING,
};
const FREQUENCIES = { samplingIndicatorSize: 10_000_000, maximumFrequency: 10 };

let accepting: Accepting;
const honest = {} as Record<LiquidLegionsProtocol, Computation>;

const frequency = (maximumFrequency: number): SpecInit => ({
  measurementType: {
    case: 'reachAndFrequency',
    value: { reachPrivacyParams: PRIVACY, frequencyPrivacyParams: PRIVACY, maximumFrequency },
  },
});

beforeAll(async () => {
  accepting = await startAccepting();
  const { signed, spec, requisitions } = accepting;
  const common = {
    name: 'duchies/beta/computations/c1',
    role: 'WORKER',
    state: 'PENDING_PARAMS',
    measurementConsumer: CONSUMER,
    measurementConsumerCertificate: `${CONSUMER}/certificates/c`,
    participants: {
      'duchies/alpha': { role: 'WORKER', state: 'CREATED' },
      'duchies/beta': { role: 'WORKER', state: 'CREATED' },
      'duchies/gamma': { role: 'AGGREGATOR', state: 'CREATED' },
    },
    requisitions,
  } as const;
  honest.reachOnlyLiquidLegionsV2 = {
    ...common,
    participants: { ...common.participants },
    measurementSpec: await signed(spec),
    protocolConfig: { reachOnlyLiquidLegionsV2: CONFIG },
  };
  honest.liquidLegionsV2 = {
    ...common,
    participants: { ...common.participants },
    measurementSpec: await signed({ ...spec, ...frequency(4) }),
    protocolConfig: { liquidLegionsV2: { ...CONFIG, ...FREQUENCIES } },
  };
});

describe.each(['reachOnlyLiquidLegionsV2', 'liquidLegionsV2'] as const)('with %s', (protocol) => {
  const config = (view: Computation) => view.protocolConfig[protocol]! as LiquidLegionsConfig;

  test('an honest computation is accepted, with as many registers as a sketch has, and no population', async () => {
    expect(await accept(accepting.duchy, honest[protocol])).toEqual({
      role: 'WORKER',
      protocol,
      spec: honest[protocol].measurementSpec.message,
      registerCount: 1000,
    });
  });

  test('a ring of one worker and the aggregator is enough', async () => {
    const view = structuredClone(honest[protocol]);
    config(view).workers = ['duchies/beta'];
    delete view.participants['duchies/alpha'];
    for (const requisition of view.requisitions) requisition.fulfillingDuchy = 'duchies/beta';
    expect(await accept(accepting.duchy, view)).toMatchObject({ role: 'WORKER' });
  });

  // biome-ignore format: a table, one row per line
  test.each<[what: string, spoil: (view: Computation) => unknown, message: RegExp]>([
    ['it has two protocols', (view) => (view.protocolConfig.direct = {}), /does not know the protocol/],
    ['a worker is there twice', (view) => (config(view).workers = ['duchies/beta', 'duchies/beta']), /workers .*duchies\/beta is there twice/],
    ['a worker is the aggregator', (view) => (config(view).aggregator = 'duchies/alpha'), /duchies\/alpha is there twice/],
    ['it has no workers', (view) => (config(view).workers = []), /workers must be 1 to 10/],
    ['a duchy of the ring is no participant', (view) => config(view).workers.push('duchies/delta'), /with a role each/],
    ['a participant is not in the ring', (view) => (view.participants['duchies/x'] = { role: 'WORKER', state: 'CREATED' }), /with a role each/],
    ['roles are swapped', (view) => (view.participants['duchies/alpha']!.role = 'AGGREGATOR'), /with a role each/],
    ['roles are those of another protocol', (view) => (view.participants['duchies/alpha']!.role = 'FIRST_WORKER'), /with a role each/],
    ['its own role is another one', (view) => (view.role = 'AGGREGATOR'), /with a role each/],
    ['this duchy takes no part', (view) => (config(view).workers[1] = 'duchies/delta'), /with a role each/],
    ['the aggregator takes an upload', (view) => (view.requisitions[0]!.fulfillingDuchy = 'duchies/gamma'), /one worker/],
    ['a stranger takes an upload', (view) => (view.requisitions[0]!.fulfillingDuchy = 'duchies/delta'), /one worker/],
    ['a requisition is missing', (view) => view.requisitions.pop(), /nonces the consumer signed/],
    ['a nonce is not signed', (view) => (view.requisitions[1]!.nonceHash = new Uint8Array(32)), /nonces the consumer signed/],
    ['the noise is not one of the settings', (view) => (config(view).noiseMechanism = 'NONE'), /no computation with NONE/],
    ['the decay rate is 0', (view) => (config(view).decayRate = 0), /decayRate must be above 0/],
    ['a sketch has no registers', (view) => (config(view).maxSize = 0), /maxSize must be/],
    ['sketches have more registers than fit', (view) => (config(view).maxSize = 1_000_001), /maxSize must be/],
    ['next to nothing hides the histogram', (view) => (config(view).histogramPrivacyParams = { epsilon: 10, delta: 1e-9 }), /histogramPrivacyParams\.epsilon must be/],
    ['next to nothing hides a provider’s registers', (view) => (config(view).publisherPrivacyParams = { epsilon: 0.1, delta: 0.1 }), /publisherPrivacyParams\.delta must be/],
    ['noise that hides takes more registers than fit', (view) => (config(view).histogramPrivacyParams = { epsilon: 1e-4, delta: 1e-9 }), /registers of noise/],
    ['the certificate is of another party', (view) => (view.measurementConsumerCertificate = 'measurementConsumers/globex/certificates/c'), /no certificate of/],
    ['another root issued the certificate', (view) => (view.measurementConsumerCertificate = `${CONSUMER}/certificates/foreign`), /certificates\/foreign: /],
    ['the spec was changed', ({ measurementSpec: s }) => (s.message = s.message.with(-1, s.message.at(-1)! ^ 1)), /measurementSpec: The signature/],
  ])('it is not accepted when %s', async (_what, spoil, message) => {
    const view = structuredClone(honest[protocol]);
    view.protocolConfig = { [protocol]: structuredClone(config(view)) };
    spoil(view);
    await expect(accept(accepting.duchy, view)).rejects.toThrow(PermanentError);
    await expect(accept(accepting.duchy, view)).rejects.toThrow(message);
  });

  test('it is not accepted when its consumer did not sign it', async () => {
    const other = await createSigner(accepting.stranger.privateKeyPem);
    const view = { ...honest[protocol], measurementSpec: await accepting.signed(accepting.spec, other) };
    await expect(accept(accepting.duchy, view)).rejects.toThrow(/measurementSpec: The signature/);
  });
});

// biome-ignore format: a table, one row per line
test.each<[what: string, protocol: LiquidLegionsProtocol, spec: SpecInit, message: RegExp]>([
  ['frequencies are asked of the reach-only protocol', 'reachOnlyLiquidLegionsV2', frequency(4), /REACH_AND_FREQUENCY is not computed/],
  ['a reach is asked of the protocol with frequencies', 'liquidLegionsV2', {}, /REACH is not computed/],
  ['more frequencies are asked for than it computes', 'liquidLegionsV2', frequency(11), /maximumFrequency must be at most 10/],
  ['impressions are asked for', 'liquidLegionsV2', { measurementType: { case: 'impression', value: { privacyParams: PRIVACY, maximumFrequencyPerUser: 3 } } }, /IMPRESSION/],
  ['it has no delta', 'reachOnlyLiquidLegionsV2', { measurementType: { case: 'reach', value: { privacyParams: { epsilon: 1, delta: 0 } } } }, /delta/],
  ['it asks for more noise than fits', 'reachOnlyLiquidLegionsV2', { measurementType: { case: 'reach', value: { privacyParams: { epsilon: 1e-6, delta: 1e-9 } } } }, /registers of noise/],
  ['its sample goes on at the start', 'reachOnlyLiquidLegionsV2', { vidSamplingInterval: { start: 0.75, width: 0.5 } }, /vidSamplingInterval/],
  ['it has no key for the result', 'reachOnlyLiquidLegionsV2', { measurementPublicKey: undefined } as unknown as SpecInit, /measurementPublicKey/],
])('a computation is not accepted when %s', async (_what, protocol, spec, message) => {
  const view = {
    ...honest[protocol],
    measurementSpec: await accepting.signed({ ...accepting.spec, ...spec }),
  };
  await expect(accept(accepting.duchy, view)).rejects.toThrow(PermanentError);
  await expect(accept(accepting.duchy, view)).rejects.toThrow(message);
});
