/** Tests which Liquid Legions computations a duchy accepts. */
import { createSigner } from '@measurement-exchange/consent';
import type { Computation, LiquidLegionsConfig, LiquidLegionsProtocol } from '@measurement-exchange/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  type Accepting,
  CONSUMER,
  PRIVACY,
  type SpecInit,
  startAccepting,
  whyNot,
} from '../../test/accepting.ts';
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
    ['it has two protocols', (view) => (view.protocolConfig.direct = {}), /^PROTOCOL_UNKNOWN: /],
    ['a worker is there twice', (view) => (config(view).workers = ['duchies/beta', 'duchies/beta']), /^PROTOCOL_INVALID at \S+\.workers: .*duchies\/beta is there twice/],
    ['a worker is the aggregator', (view) => (config(view).aggregator = 'duchies/alpha'), /^PROTOCOL_INVALID at .*duchies\/alpha is there twice/],
    ['it has no workers', (view) => (config(view).workers = []), /^PROTOCOL_INVALID at .*must be 1 to 10/],
    ['a duchy of the ring is no participant', (view) => config(view).workers.push('duchies/delta'), /^PARTICIPANTS_INVALID: /],
    ['a participant is not in the ring', (view) => (view.participants['duchies/x'] = { role: 'WORKER', state: 'CREATED' }), /^PARTICIPANTS_INVALID: /],
    ['roles are swapped', (view) => (view.participants['duchies/alpha']!.role = 'AGGREGATOR'), /^PARTICIPANTS_INVALID: /],
    ['roles are those of another protocol', (view) => (view.participants['duchies/alpha']!.role = 'FIRST_WORKER'), /^PARTICIPANTS_INVALID: /],
    ['its own role is another one', (view) => (view.role = 'AGGREGATOR'), /^PARTICIPANTS_INVALID: /],
    ['this duchy takes no part', (view) => (config(view).workers[1] = 'duchies/delta'), /^PARTICIPANTS_INVALID: /],
    ['the aggregator takes an upload', (view) => (view.requisitions[0]!.fulfillingDuchy = 'duchies/gamma'), /^REQUISITIONS_INVALID: /],
    ['a stranger takes an upload', (view) => (view.requisitions[0]!.fulfillingDuchy = 'duchies/delta'), /^REQUISITIONS_INVALID: /],
    ['a requisition is missing', (view) => view.requisitions.pop(), /^NONCES_NOT_SIGNED: /],
    ['a nonce is not signed', (view) => (view.requisitions[1]!.nonceHash = new Uint8Array(32)), /^NONCES_NOT_SIGNED: /],
    ['the noise is not one of the settings', (view) => (config(view).noiseMechanism = 'NONE'), /^NOISE_NOT_ACCEPTED at noiseMechanism: /],
    ['the decay rate is 0', (view) => (config(view).decayRate = 0), /^PROTOCOL_INVALID at \S+\.decayRate: /],
    ['a sketch has no registers', (view) => (config(view).maxSize = 0), /^PROTOCOL_INVALID at \S+\.maxSize: /],
    ['sketches have more registers than fit', (view) => (config(view).maxSize = 1_000_001), /^PROTOCOL_INVALID at \S+\.maxSize: /],
    ['next to nothing hides the histogram', (view) => (config(view).histogramPrivacyParams = { epsilon: 10, delta: 1e-9 }), /^PROTOCOL_INVALID at \S+\.histogramPrivacyParams\.epsilon: /],
    ['next to nothing hides a provider’s registers', (view) => (config(view).publisherPrivacyParams = { epsilon: 0.1, delta: 0.1 }), /^PROTOCOL_INVALID at \S+\.publisherPrivacyParams\.delta: /],
    ['noise that hides takes more registers than fit', (view) => (config(view).histogramPrivacyParams = { epsilon: 1e-4, delta: 1e-9 }), /^PROTOCOL_UNFIT: .*registers of noise/],
    ['the certificate is of another party', (view) => (view.measurementConsumerCertificate = 'measurementConsumers/globex/certificates/c'), /^CERTIFICATE_FOREIGN at measurementConsumerCertificate: /],
    ['another root issued the certificate', (view) => (view.measurementConsumerCertificate = `${CONSUMER}/certificates/foreign`), /^CERTIFICATE_INVALID at measurementConsumerCertificate: /],
    ['the spec was changed', ({ measurementSpec: s }) => (s.message = s.message.with(-1, s.message.at(-1)! ^ 1)), /^SIGNATURE_INVALID at measurementSpec: /],
  ])('it is not accepted when %s', async (_what, spoil, message) => {
    const view = structuredClone(honest[protocol]);
    view.protocolConfig = { [protocol]: structuredClone(config(view)) };
    spoil(view);
    expect(await whyNot(accepting.duchy, view)).toMatch(message);
  });

  test('it is not accepted when its consumer did not sign it', async () => {
    const other = await createSigner(accepting.stranger.privateKeyPem);
    const view = { ...honest[protocol], measurementSpec: await accepting.signed(accepting.spec, other) };
    expect(await whyNot(accepting.duchy, view)).toMatch(/^SIGNATURE_INVALID at measurementSpec: /);
  });
});

// biome-ignore format: a table, one row per line
test.each<[what: string, protocol: LiquidLegionsProtocol, spec: SpecInit, message: RegExp]>([
  ['frequencies are asked of the reach-only protocol', 'reachOnlyLiquidLegionsV2', frequency(4), /^PROTOCOL_UNFIT at measurementSpec.measurementType: .*REACH_AND_FREQUENCY/],
  ['a reach is asked of the protocol with frequencies', 'liquidLegionsV2', {}, /^PROTOCOL_UNFIT at measurementSpec.measurementType: .*REACH/],
  ['more frequencies are asked for than it computes', 'liquidLegionsV2', frequency(11), /^PROTOCOL_UNFIT: .*maximumFrequency must be at most 10/],
  ['impressions are asked for', 'liquidLegionsV2', { measurementType: { case: 'impression', value: { privacyParams: PRIVACY, maximumFrequencyPerUser: 3 } } }, /^PROTOCOL_UNFIT at measurementSpec.measurementType: /],
  ['it has no delta', 'reachOnlyLiquidLegionsV2', { measurementType: { case: 'reach', value: { privacyParams: { epsilon: 1, delta: 0 } } } }, /^PROTOCOL_UNFIT: .*delta/],
  ['it asks for more noise than fits', 'reachOnlyLiquidLegionsV2', { measurementType: { case: 'reach', value: { privacyParams: { epsilon: 1e-6, delta: 1e-9 } } } }, /^PROTOCOL_UNFIT: .*registers of noise/],
  ['its sample goes on at the start', 'reachOnlyLiquidLegionsV2', { vidSamplingInterval: { start: 0.75, width: 0.5 } }, /^SPEC_INVALID at measurementSpec\.vidSamplingInterval/],
  ['it has no key for the result', 'reachOnlyLiquidLegionsV2', { measurementPublicKey: undefined } as unknown as SpecInit, /^SPEC_INVALID at measurementSpec\.measurementPublicKey: /],
])('a computation is not accepted when %s', async (_what, protocol, spec, message) => {
  const view = {
    ...honest[protocol],
    measurementSpec: await accepting.signed({ ...accepting.spec, ...spec }),
  };
  expect(await whyNot(accepting.duchy, view)).toMatch(message);
});
