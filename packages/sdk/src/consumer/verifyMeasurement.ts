import { unpackEncryptionPublicKey, verifySignature, type X509 } from '@measurement-exchange/consent';
import { equalBytes, type Measurement, type PlainSpec } from '@measurement-exchange/contract';
import { systemClock } from '../client/clock.ts';
import { Checklist, DoesNotHold, type VerificationStep } from '../verification/checklist.ts';
import {
  checkCertificate,
  checkOwnCertificate,
  checkSignature,
  checkSpec,
  decrypted,
} from '../verification/checks.ts';
import type { ConsumerOptions } from './deps.ts';
import { openMeasurement } from './open.ts';
import { findResultKeyset } from './own.ts';
import { duchyProtocolOf } from './protocol.ts';
import { openQuestion } from './question.ts';

/**
 * Verifies one of this consumer's measurements step by step: certificates, signatures, keys, nonces, and results. Calls
 * `onStep` after each step. If the measurement has succeeded, the steps include all checks of `Consumer.open`.
 * `Consumer.open` stops at the first failure, but this function continues with the other steps.
 */
export async function verifyMeasurement(
  options: ConsumerOptions,
  measurement: Measurement,
  onStep?: (step: VerificationStep) => void,
): Promise<VerificationStep[]> {
  const list = new Checklist(onStep);
  list.about('what you asked');
  const { measurementSpec, measurementConsumerCertificate, dataProviders = {} } = measurement;
  const own = await checkOwnCertificate(list, options, measurementConsumerCertificate);
  const signed = await checkSignature(list, 'the MeasurementSpec', measurementSpec, own);
  const spec = await checkSpec(list, signed?.message);
  const keyset = await checkResultKey(list, options, measurement, spec);
  const computed = duchyProtocolOf(measurement.protocolConfig);
  await checkNonceHashes(list, spec, measurement);
  if (measurement.encryptedQuestion !== undefined) await checkQuestion(list, options, measurement);

  for (const [provider, entry] of Object.entries(dataProviders)) {
    list.about(provider);
    const certificate = await checkCertificate(list, options, provider, entry.dataProviderCertificate);
    await checkProviderKey(list, options, provider, entry.dataProviderPublicKey.data, certificate);
    if (computed === undefined) await checkResult(list, options, provider, measurement, keyset);
  }
  if (computed !== undefined) {
    const { aggregator, workers } = computed;
    list.about(aggregator);
    await checkDuchies(list, options, [aggregator, ...workers]);
    await checkResult(list, options, aggregator, measurement, keyset);
  }
  if (measurement.state !== 'SUCCEEDED') return list.steps;
  list.about('all together');
  const who = computed === undefined ? 'every provider' : 'the aggregator';
  await list.check(`${who} has exactly one result, of what was asked`, async () => {
    const result = await openMeasurement({ clock: systemClock, ...options }, measurement);
    return { value: result, detail: `${computed === undefined ? result.dataProviders.length : 1}` };
  });
  return list.steps;
}

async function checkDuchies(list: Checklist, { duchies: accepted = [] }: ConsumerOptions, duchies: string[]) {
  await list.check('it computes with others, and you accept all of them', () => {
    const unknown = duchies.find((duchy) => !accepted.includes(duchy));
    if (unknown !== undefined)
      throw new DoesNotHold(`you do not accept ${unknown}: --root ${unknown}=<file>`);
    if (new Set(duchies).size < duchies.length) throw new DoesNotHold('one of them has two roles');
    return { value: true, detail: duchies.join(', ') };
  });
}

/**
 * Checks that the consumer has the private key for the results. This key is derived from the consumer's own key and the
 * request.
 */
function checkResultKey(
  list: Checklist,
  { credentials }: ConsumerOptions,
  measurement: Measurement,
  spec: PlainSpec | undefined,
) {
  return list.checkWith('results are encrypted for you', [spec], async (_spec) => {
    const keyset = await findResultKeyset(credentials, measurement);
    if (keyset !== undefined) return { value: keyset };
    throw new DoesNotHold(
      'the key in it does not follow from the one you have now: was it made with an earlier one, or changed?',
    );
  });
}

async function checkQuestion(list: Checklist, options: ConsumerOptions, measurement: Measurement) {
  await list.check('the question stored with it is yours, and of this measurement', async () => {
    const question = await openQuestion({ clock: systemClock, ...options }, measurement);
    return { value: question, detail: question?.title ?? '' };
  });
}

async function checkNonceHashes(
  list: Checklist,
  spec: PlainSpec | undefined,
  { dataProviders = {} }: Measurement,
) {
  await list.checkWith('it names exactly the nonces of its providers', [spec], ({ nonceHashes }) => {
    const entries = Object.entries(dataProviders);
    for (const [provider, { nonceHash }] of entries) {
      if (!nonceHashes.some((hash) => equalBytes(hash, nonceHash))) {
        throw new DoesNotHold(`the nonceHash of ${provider} is not in it`);
      }
    }
    if (nonceHashes.length !== entries.length) {
      throw new DoesNotHold(`it has ${nonceHashes.length} of them, for ${entries.length} providers`);
    }
    return { value: true, detail: `${entries.length}` };
  });
}

async function checkProviderKey(
  list: Checklist,
  { client }: ConsumerOptions,
  provider: string,
  keyset: Uint8Array,
  certificate: X509 | undefined,
) {
  await list.checkWith(
    'its part was encrypted with the key it publishes, signed',
    [certificate],
    async (x509) => {
      const { publicKey } = await client.getParty({ name: provider });
      if (publicKey === undefined) throw new DoesNotHold(`${provider} publishes no key`);
      await verifySignature(publicKey, x509);
      if (!equalBytes(unpackEncryptionPublicKey(publicKey.message), keyset)) {
        throw new DoesNotHold('it publishes another key now: it may have changed it since');
      }
      return { value: true };
    },
  );
}

async function checkResult(
  list: Checklist,
  options: ConsumerOptions,
  signer: string,
  { results }: Measurement,
  keyset: Uint8Array | undefined,
) {
  if (results === undefined) return;
  const entry = results.find(({ certificate }) => certificate.startsWith(`${signer}/certificates/`));
  const found = await list.check('it has a result', () => {
    if (entry === undefined) throw new DoesNotHold('no result has a certificate of this party');
    return { value: entry };
  });
  const whose = 'the certificate of the result';
  const certificate = await checkCertificate(list, options, signer, found?.certificate, whose);
  const signed = await list.checkWith(
    'the result decrypts with the key of the measurement',
    [found, keyset],
    ({ encryptedResult }, keyset) => decrypted(encryptedResult, keyset),
  );
  await checkSignature(list, 'the result', signed, certificate);
}
