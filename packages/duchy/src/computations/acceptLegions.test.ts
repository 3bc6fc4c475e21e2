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

describe.each(['reachOnlyLiquidLegionsV2', 'liquidLegionsV2'] as const)('a %s computation', (protocol) => {
  const config = (view: Computation) => view.protocolConfig[protocol]! as LiquidLegionsConfig;

  test('is accepted if it is honest, with the register count of a sketch', async () => {
    expect(await accept(accepting.duchy, honest[protocol])).toEqual({
      role: 'WORKER',
      protocol,
      spec: honest[protocol].measurementSpec.message,
      registerCount: 1000,
    });
  });

  test('is accepted with one worker and the aggregator', async () => {
    const view = structuredClone(honest[protocol]);
    config(view).workers = ['duchies/beta'];
    delete view.participants['duchies/alpha'];
    for (const requisition of view.requisitions) requisition.fulfillingDuchy = 'duchies/beta';
    expect(await accept(accepting.duchy, view)).toMatchObject({ role: 'WORKER' });
  });

  // biome-ignore format: a table, one row per line
  test.each<[what: string, spoil: (view: Computation) => unknown, message: RegExp]>([
    ['it has two protocols', (view) => (view.protocolConfig.direct = {}), /^PROTOCOL_UNKNOWN: /],
    ['a worker is listed twice', (view) => (config(view).workers = ['duchies/beta', 'duchies/beta']), /^PROTOCOL_INVALID at \S+\.workers: .*duchies\/beta is there twice/],
    ['a worker is the aggregator', (view) => (config(view).aggregator = 'duchies/alpha'), /^PROTOCOL_INVALID at .*duchies\/alpha is there twice/],
    ['it has no workers', (view) => (config(view).workers = []), /^PROTOCOL_INVALID at .*must be 1 to 10/],
    ['a duchy of the ring is not a participant', (view) => config(view).workers.push('duchies/delta'), /^PARTICIPANTS_INVALID: /],
    ['a participant is not in the ring', (view) => (view.participants['duchies/x'] = { role: 'WORKER', state: 'CREATED' }), /^PARTICIPANTS_INVALID: /],
    ['roles are swapped', (view) => (view.participants['duchies/alpha']!.role = 'AGGREGATOR'), /^PARTICIPANTS_INVALID: /],
    ['a role belongs to another protocol', (view) => (view.participants['duchies/alpha']!.role = 'FIRST_WORKER'), /^PARTICIPANTS_INVALID: /],
    ['its own role differs from the config', (view) => (view.role = 'AGGREGATOR'), /^PARTICIPANTS_INVALID: /],
    ['this duchy is not in the config', (view) => (config(view).workers[1] = 'duchies/delta'), /^PARTICIPANTS_INVALID: /],
    ['the aggregator receives an upload', (view) => (view.requisitions[0]!.fulfillingDuchy = 'duchies/gamma'), /^REQUISITIONS_INVALID: /],
    ['a duchy outside of the ring receives an upload', (view) => (view.requisitions[0]!.fulfillingDuchy = 'duchies/delta'), /^REQUISITIONS_INVALID: /],
    ['a requisition is missing', (view) => view.requisitions.pop(), /^NONCES_NOT_SIGNED: /],
    ['a nonce is not signed', (view) => (view.requisitions[1]!.nonceHash = new Uint8Array(32)), /^NONCES_NOT_SIGNED: /],
    ['the noise mechanism is not one of the settings', (view) => (config(view).noiseMechanism = 'NONE'), /^NOISE_NOT_ACCEPTED at noiseMechanism: /],
    ['the decay rate is 0', (view) => (config(view).decayRate = 0), /^PROTOCOL_INVALID at \S+\.decayRate: /],
    ['a sketch has no registers', (view) => (config(view).maxSize = 0), /^PROTOCOL_INVALID at \S+\.maxSize: /],
    ['a sketch has too many registers', (view) => (config(view).maxSize = 1_000_001), /^PROTOCOL_INVALID at \S+\.maxSize: /],
    ['the epsilon of the histogram noise is too high', (view) => (config(view).histogramPrivacyParams = { epsilon: 10, delta: 1e-9 }), /^PROTOCOL_INVALID at \S+\.histogramPrivacyParams\.epsilon: /],
    ['the delta of the publisher noise is too high', (view) => (config(view).publisherPrivacyParams = { epsilon: 0.1, delta: 0.1 }), /^PROTOCOL_INVALID at \S+\.publisherPrivacyParams\.delta: /],
    ['the histogram noise requires too many registers', (view) => (config(view).histogramPrivacyParams = { epsilon: 1e-4, delta: 1e-9 }), /^PROTOCOL_UNFIT: .*registers of noise/],
    ['the certificate is of another party', (view) => (view.measurementConsumerCertificate = 'measurementConsumers/globex/certificates/c'), /^CERTIFICATE_FOREIGN at measurementConsumerCertificate: /],
    ['another root issued the certificate', (view) => (view.measurementConsumerCertificate = `${CONSUMER}/certificates/foreign`), /^CERTIFICATE_INVALID at measurementConsumerCertificate: /],
    ['the spec was changed', ({ measurementSpec: s }) => (s.message = s.message.with(-1, s.message.at(-1)! ^ 1)), /^SIGNATURE_INVALID at measurementSpec: /],
  ])('is rejected if %s', async (_what, spoil, message) => {
    const view = structuredClone(honest[protocol]);
    view.protocolConfig = { [protocol]: structuredClone(config(view)) };
    spoil(view);
    expect(await whyNot(accepting.duchy, view)).toMatch(message);
  });

  test('is rejected if its consumer did not sign it', async () => {
    const other = await createSigner(accepting.stranger.privateKeyPem);
    const view = { ...honest[protocol], measurementSpec: await accepting.signed(accepting.spec, other) };
    expect(await whyNot(accepting.duchy, view)).toMatch(/^SIGNATURE_INVALID at measurementSpec: /);
  });
});

// biome-ignore format: a table, one row per line
test.each<[what: string, protocol: LiquidLegionsProtocol, spec: SpecInit, message: RegExp]>([
  ['the reach-only protocol is asked for frequencies', 'reachOnlyLiquidLegionsV2', frequency(4), /^PROTOCOL_UNFIT at measurementSpec.measurementType: .*REACH_AND_FREQUENCY/],
  ['the protocol with frequencies is asked for a reach', 'liquidLegionsV2', {}, /^PROTOCOL_UNFIT at measurementSpec.measurementType: .*REACH/],
  ['it asks for more frequencies than its maximum', 'liquidLegionsV2', frequency(11), /^PROTOCOL_UNFIT: .*maximumFrequency must be at most 10/],
  ['it asks for impressions', 'liquidLegionsV2', { measurementType: { case: 'impression', value: { privacyParams: PRIVACY, maximumFrequencyPerUser: 3 } } }, /^PROTOCOL_UNFIT at measurementSpec.measurementType: /],
  ['its delta is 0', 'reachOnlyLiquidLegionsV2', { measurementType: { case: 'reach', value: { privacyParams: { epsilon: 1, delta: 0 } } } }, /^PROTOCOL_UNFIT: .*delta/],
  ['its epsilon requires too many noise registers', 'reachOnlyLiquidLegionsV2', { measurementType: { case: 'reach', value: { privacyParams: { epsilon: 1e-6, delta: 1e-9 } } } }, /^PROTOCOL_UNFIT: .*registers of noise/],
  ['its sampling interval wraps around', 'reachOnlyLiquidLegionsV2', { vidSamplingInterval: { start: 0.75, width: 0.5 } }, /^SPEC_INVALID at measurementSpec\.vidSamplingInterval/],
  ['it has no key for the result', 'reachOnlyLiquidLegionsV2', { measurementPublicKey: undefined } as unknown as SpecInit, /^SPEC_INVALID at measurementSpec\.measurementPublicKey: /],
])('a Liquid Legions computation is rejected if %s', async (_what, protocol, spec, message) => {
  const view = {
    ...honest[protocol],
    measurementSpec: await accepting.signed({ ...accepting.spec, ...spec }),
  };
  expect(await whyNot(accepting.duchy, view)).toMatch(message);
});
