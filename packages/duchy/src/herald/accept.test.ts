import { createSigner } from '@measurement-exchange/consent';
import type { Computation } from '@measurement-exchange/contract';
import { populationFingerprint } from '@measurement-exchange/sdk/shareShuffle';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  type Accepting,
  CONSUMER,
  PRIVACY,
  type SpecInit,
  startAccepting,
  VID_RANGES,
} from '../../test/accepting.ts';
import type { Duchy } from '../context.ts';
import { PermanentError } from '../errors.ts';
import { accept } from './accept.ts';

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

test('an honest computation is accepted, with the registers of its sample', async () => {
  expect(await accept(duchy, honest)).toEqual({
    role: 'SECOND_WORKER',
    protocol: 'honestMajorityShareShuffle',
    spec: honest.measurementSpec.message,
    registerCount: 500,
  });
});

describe('a computation is not accepted when', () => {
  test.each<[what: string, spoil: (view: Computation) => unknown, message: RegExp]>([
    [
      'its protocol is another one',
      (view) => (view.protocolConfig = { direct: {} }),
      /does not know the protocol/,
    ],
    ['a duchy has two roles', (view) => (config(view).aggregator = 'duchies/alpha'), /with a role each/],
    [
      'there is a fourth duchy',
      (view) => (view.participants['duchies/x'] = { role: 'AGGREGATOR', state: 'CREATED' }),
      /with a role each/,
    ],
    [
      'the roles are swapped',
      (view) => (view.participants['duchies/alpha']!.role = 'AGGREGATOR'),
      /with a role each/,
    ],
    ['its own role is another one', (view) => (view.role = 'AGGREGATOR'), /with a role each/],
    ['this duchy takes no part', (view) => (config(view).secondWorker = 'duchies/delta'), /with a role each/],
    [
      'the aggregator takes an upload',
      (view) => (view.requisitions[0]!.fulfillingDuchy = 'duchies/gamma'),
      /one worker/,
    ],
    [
      'a provider is asked twice',
      (view) =>
        Object.assign(view.requisitions[1]!, {
          dataProvider: 'dataProviders/streamly',
          name: 'dataProviders/streamly/requisitions/r1',
        }),
      /one of each provider/,
    ],
    [
      'a requisition is of another provider',
      (view) => (view.requisitions[1]!.dataProvider = 'dataProviders/x'),
      /one of each provider/,
    ],
    [
      'two requisitions share an ID',
      (view) => (view.requisitions[1]!.name = 'dataProviders/chirper/requisitions/r0'),
      /one of each provider/,
    ],
    ['a requisition is missing', (view) => view.requisitions.pop(), /nonces the consumer signed/],
    [
      'a nonce is not signed',
      (view) => (view.requisitions[1]!.nonceHash = new Uint8Array(32)),
      /nonces the consumer signed/,
    ],
    [
      'the noise is not one of the settings',
      (view) => (config(view).noiseMechanism = 'NONE'),
      /no computation with NONE/,
    ],
    [
      'the population is another one',
      (view) => (config(view).populationFingerprint = new Uint8Array(32)),
      /fingerprint/,
    ],
    ['the ring is not prime', (view) => (config(view).ringModulus = 100), /prime/],
    [
      'the certificate is of another party',
      (view) => (view.measurementConsumerCertificate = 'measurementConsumers/globex/certificates/c'),
      /no certificate of/,
    ],
    [
      'the certificate does not exist',
      (view) => (view.measurementConsumerCertificate = `${CONSUMER}/certificates/none`),
      /does not exist/,
    ],
    [
      'another root issued the certificate',
      (view) => (view.measurementConsumerCertificate = `${CONSUMER}/certificates/foreign`),
      /certificates\/foreign: /,
    ],
    [
      'the spec was changed',
      (view) =>
        (view.measurementSpec.message = view.measurementSpec.message.with(
          -1,
          view.measurementSpec.message.at(-1)! ^ 1,
        )),
      /measurementSpec: The signature/,
    ],
  ])('%s', async (_what, spoil, message) => {
    const view = structuredClone(honest);
    spoil(view);
    await expect(accept(duchy, view)).rejects.toThrow(PermanentError);
    await expect(accept(duchy, view)).rejects.toThrow(message);
  });

  test.each<[what: string, spec: SpecInit, message: RegExp]>([
    [
      'it asks for what duchies do not compute',
      {
        measurementType: {
          case: 'impression',
          value: { privacyParams: PRIVACY, maximumFrequencyPerUser: 3 },
        },
      },
      /IMPRESSION/,
    ],
    [
      'it asks for too many frequencies',
      {
        measurementType: {
          case: 'reachAndFrequency',
          value: { reachPrivacyParams: PRIVACY, frequencyPrivacyParams: PRIVACY, maximumFrequency: 63 },
        },
      },
      /ringModulus/,
    ],
    [
      'it has no delta',
      { measurementType: { case: 'reach', value: { privacyParams: { epsilon: 1, delta: 0 } } } },
      /delta/,
    ],
    [
      'it asks for more noise than fits',
      { measurementType: { case: 'reach', value: { privacyParams: { epsilon: 1e-6, delta: 1e-9 } } } },
      /registers of noise/,
    ],
    [
      'it has no key for the result',
      { measurementPublicKey: undefined } as unknown as SpecInit,
      /measurementPublicKey/,
    ],
  ])('%s', async (_what, spec, message) => {
    const view = { ...honest, measurementSpec: await accepting.signed({ ...accepting.spec, ...spec }) };
    await expect(accept(duchy, view)).rejects.toThrow(PermanentError);
    await expect(accept(duchy, view)).rejects.toThrow(message);
  });

  test('its consumer did not sign it', async () => {
    const other = await createSigner(accepting.stranger.privateKeyPem);
    const view = { ...honest, measurementSpec: await accepting.signed(accepting.spec, other) };
    await expect(accept(duchy, view)).rejects.toThrow(/measurementSpec: The signature/);
  });

  test('the certificate of its consumer is revoked', async () => {
    accepting.says.revocationState = 'REVOKED';
    await expect(accept(duchy, honest)).rejects.toThrow(/is revoked/);
    accepting.says.revocationState = undefined;
  });

  test('the population has other ranges than its fingerprint says', async () => {
    accepting.says.vidRanges = [{ start: 1, end: 999 }];
    await expect(accept(duchy, honest)).rejects.toThrow(/fingerprint/);
    accepting.says.vidRanges = VID_RANGES;
  });
});

function config(view: Computation) {
  return view.protocolConfig.honestMajorityShareShuffle!;
}
