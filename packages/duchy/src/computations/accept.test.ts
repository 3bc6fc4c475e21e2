import { createSigner } from '@measurement-exchange/consent';
import type { Computation } from '@measurement-exchange/contract';
import { populationFingerprint } from '@measurement-exchange/mpc/shares';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  type Accepting,
  CONSUMER,
  PRIVACY,
  type SpecInit,
  startAccepting,
  VID_RANGES,
  whyNot,
} from '../../test/accepting.ts';
import { accept } from './accept.ts';
import type { Duchy } from './context.ts';

let accepting: Accepting;
let duchy: Duchy;
let honest: Computation;

beforeAll(async () => {
  accepting = await startAccepting();
  ({ duchy } = accepting);
  honest = {
    name: 'duchies/beta/computations/c1',
    role: 'SECOND_WORKER',
    state: 'PENDING_PARAMS',
    measurementConsumer: CONSUMER,
    measurementSpec: await accepting.signed(accepting.spec),
    measurementConsumerCertificate: `${CONSUMER}/certificates/c`,
    protocolConfig: {
      honestMajorityShareShuffle: {
        firstWorker: 'duchies/alpha',
        secondWorker: 'duchies/beta',
        aggregator: 'duchies/gamma',
        noiseMechanism: 'DISCRETE_GAUSSIAN',
        ringModulus: 127,
        population: 'populations/all',
        populationFingerprint: populationFingerprint(VID_RANGES),
      },
    },
    participants: {
      'duchies/alpha': { role: 'FIRST_WORKER', state: 'CREATED' },
      'duchies/beta': { role: 'SECOND_WORKER', state: 'CREATED' },
      'duchies/gamma': { role: 'AGGREGATOR', state: 'CREATED' },
    },
    requisitions: accepting.requisitions,
  };
});

test('an honest computation is accepted with the register count of its sample', async () => {
  expect(await accept(duchy, honest)).toEqual({
    role: 'SECOND_WORKER',
    protocol: 'honestMajorityShareShuffle',
    spec: honest.measurementSpec.message,
    registerCount: 500,
  });
});

describe('a computation is rejected if', () => {
  test.each<[what: string, spoil: (view: Computation) => unknown, message: RegExp]>([
    ['its protocol is unknown', (view) => (view.protocolConfig = { direct: {} }), /^PROTOCOL_UNKNOWN: /],
    [
      'a duchy has two roles',
      (view) => (config(view).aggregator = 'duchies/alpha'),
      /^PARTICIPANTS_INVALID: /,
    ],
    [
      'there is a fourth duchy',
      (view) => (view.participants['duchies/x'] = { role: 'AGGREGATOR', state: 'CREATED' }),
      /^PARTICIPANTS_INVALID: /,
    ],
    [
      'the roles are swapped',
      (view) => (view.participants['duchies/alpha']!.role = 'AGGREGATOR'),
      /^PARTICIPANTS_INVALID: /,
    ],
    ['its own role differs from the config', (view) => (view.role = 'AGGREGATOR'), /^PARTICIPANTS_INVALID: /],
    [
      'this duchy is not in the config',
      (view) => (config(view).secondWorker = 'duchies/delta'),
      /^PARTICIPANTS_INVALID: /,
    ],
    [
      'the aggregator receives an upload',
      (view) => (view.requisitions[0]!.fulfillingDuchy = 'duchies/gamma'),
      /^REQUISITIONS_INVALID: /,
    ],
    [
      'a provider has two requisitions',
      (view) =>
        Object.assign(view.requisitions[1]!, {
          dataProvider: 'dataProviders/streamly',
          name: 'dataProviders/streamly/requisitions/r1',
        }),
      /^REQUISITIONS_INVALID: /,
    ],
    [
      'a requisition belongs to another provider',
      (view) => (view.requisitions[1]!.dataProvider = 'dataProviders/x'),
      /^REQUISITIONS_INVALID: /,
    ],
    [
      'two requisitions share an ID',
      (view) => (view.requisitions[1]!.name = 'dataProviders/chirper/requisitions/r0'),
      /^REQUISITIONS_INVALID: /,
    ],
    ['a requisition is missing', (view) => view.requisitions.pop(), /^NONCES_NOT_SIGNED: /],
    [
      'a nonce is not signed',
      (view) => (view.requisitions[1]!.nonceHash = new Uint8Array(32)),
      /^NONCES_NOT_SIGNED: /,
    ],
    [
      'the noise mechanism is not one of the settings',
      (view) => (config(view).noiseMechanism = 'NONE'),
      /^NOISE_NOT_ACCEPTED at noiseMechanism: /,
    ],
    [
      'the population fingerprint is wrong',
      (view) => (config(view).populationFingerprint = new Uint8Array(32)),
      /^POPULATION_MISMATCH at populationFingerprint: /,
    ],
    ['the ring modulus is not prime', (view) => (config(view).ringModulus = 100), /^PROTOCOL_UNFIT: .*prime/],
    [
      'the certificate is of another party',
      (view) => (view.measurementConsumerCertificate = 'measurementConsumers/globex/certificates/c'),
      /^CERTIFICATE_FOREIGN at measurementConsumerCertificate: /,
    ],
    [
      'the certificate does not exist',
      (view) => (view.measurementConsumerCertificate = `${CONSUMER}/certificates/none`),
      /^CERTIFICATE_NOT_FOUND at measurementConsumerCertificate: /,
    ],
    [
      'another root issued the certificate',
      (view) => (view.measurementConsumerCertificate = `${CONSUMER}/certificates/foreign`),
      /^CERTIFICATE_INVALID at measurementConsumerCertificate: /,
    ],
    [
      'the spec was changed',
      (view) =>
        (view.measurementSpec.message = view.measurementSpec.message.with(
          -1,
          view.measurementSpec.message.at(-1)! ^ 1,
        )),
      /^SIGNATURE_INVALID at measurementSpec: /,
    ],
  ])('%s', async (_what, spoil, message) => {
    const view = structuredClone(honest);
    spoil(view);
    expect(await whyNot(duchy, view)).toMatch(message);
  });

  test.each<[what: string, spec: SpecInit, message: RegExp]>([
    [
      'it asks for impressions',
      {
        measurementType: {
          case: 'impression',
          value: { privacyParams: PRIVACY, maximumFrequencyPerUser: 3 },
        },
      },
      /^PROTOCOL_UNFIT at measurementSpec.measurementType: /,
    ],
    [
      'it asks for too many frequencies',
      {
        measurementType: {
          case: 'reachAndFrequency',
          value: { reachPrivacyParams: PRIVACY, frequencyPrivacyParams: PRIVACY, maximumFrequency: 63 },
        },
      },
      /^PROTOCOL_UNFIT: .*ringModulus/,
    ],
    [
      'its delta is 0',
      { measurementType: { case: 'reach', value: { privacyParams: { epsilon: 1, delta: 0 } } } },
      /^PROTOCOL_UNFIT: .*delta/,
    ],
    [
      'its epsilon requires too many noise registers',
      { measurementType: { case: 'reach', value: { privacyParams: { epsilon: 1e-6, delta: 1e-9 } } } },
      /^PROTOCOL_UNFIT: .*registers of noise/,
    ],
    [
      'it has no key for the result',
      { measurementPublicKey: undefined } as unknown as SpecInit,
      /^SPEC_INVALID at measurementSpec\.measurementPublicKey: /,
    ],
  ])('%s', async (_what, spec, message) => {
    const view = { ...honest, measurementSpec: await accepting.signed({ ...accepting.spec, ...spec }) };
    expect(await whyNot(duchy, view)).toMatch(message);
  });

  test('its consumer did not sign it', async () => {
    const other = await createSigner(accepting.stranger.privateKeyPem);
    const view = { ...honest, measurementSpec: await accepting.signed(accepting.spec, other) };
    expect(await whyNot(duchy, view)).toMatch(/^SIGNATURE_INVALID at measurementSpec: /);
  });

  test('the certificate of its consumer is revoked', async () => {
    accepting.says.revocationState = 'REVOKED';
    expect(await whyNot(duchy, honest)).toMatch(
      /^CERTIFICATE_REVOKED at measurementConsumerCertificate: .*REVOKED/,
    );
    accepting.says.revocationState = undefined;
  });

  test('the ranges of the population do not match its fingerprint', async () => {
    accepting.says.vidRanges = [{ start: 1, end: 999 }];
    expect(await whyNot(duchy, honest)).toMatch(/^POPULATION_MISMATCH at populationFingerprint: /);
    accepting.says.vidRanges = VID_RANGES;
  });
});

function config(view: Computation) {
  return view.protocolConfig.honestMajorityShareShuffle!;
}
