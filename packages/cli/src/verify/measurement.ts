/** Verifies a measurement as its consumer: the signed spec, the providers, and the results. */
import { equalBytes, type Measurement, type PlainSpec } from '@measurement-exchange/contract';
import {
  createConsumer,
  decrypt,
  findResultKeyset,
  unpackEncryptionPublicKey,
  unpackSignedMessage,
  verifySignature,
  type X509,
} from '@measurement-exchange/sdk';
import { duchiesOf } from '../party/spec.ts';
import { type Checklist, DoesNotHold } from './checklist.ts';
import { type Context, checkCertificate, checkOwnCertificate, checkSignature, checkSpec } from './steps.ts';

export async function verifyMeasurement(list: Checklist, context: Context, name: string): Promise<void> {
  const measurement = await context.client.getMeasurement({ name });
  list.about('what you asked');
  const { measurementSpec, measurementConsumerCertificate, dataProviders = {} } = measurement;
  const own = await checkOwnCertificate(list, context, measurementConsumerCertificate);
  const signed = await checkSignature(list, 'the MeasurementSpec', measurementSpec, own);
  const spec = await checkSpec(list, signed?.message);
  const keyset = await checkResultKey(list, context, measurement, spec);
  const duchies = duchiesOf(measurement.protocolConfig);
  const [aggregator] = duchies;
  await checkNonceHashes(list, spec, measurement);

  for (const [provider, entry] of Object.entries(dataProviders)) {
    list.about(provider);
    const certificate = await checkCertificate(list, context, provider, entry.dataProviderCertificate);
    await checkProviderKey(list, context, provider, entry.dataProviderPublicKey.data, certificate);
    if (aggregator === undefined) await checkResult(list, context, provider, measurement, keyset);
  }
  if (aggregator !== undefined) {
    list.about(aggregator);
    await checkDuchies(list, context, duchies);
    await checkResult(list, context, aggregator, measurement, keyset);
  }
  if (measurement.state !== 'SUCCEEDED') return;
  list.about('all together');
  const who = aggregator === undefined ? 'every provider' : 'the aggregator';
  await list.check(`${who} has exactly one result, of what was asked`, async () => {
    const result = await createConsumer(context).open(measurement);
    return { value: result, detail: `${aggregator === undefined ? result.dataProviders.length : 1}` };
  });
}

/** The duchies see more than anybody else: they are to be different ones, and all of the consumer's choice. */
async function checkDuchies(list: Checklist, context: Context, duchies: string[]) {
  await list.check('it computes with others, and you accept all of them', () => {
    const unknown = duchies.find((duchy) => !context.duchies.includes(duchy));
    if (unknown !== undefined)
      throw new DoesNotHold(`you do not accept ${unknown}: --root ${unknown}=<file>`);
    if (new Set(duchies).size < duchies.length) throw new DoesNotHold('one of them has two roles');
    return { value: true, detail: duchies.join(', ') };
  });
}

/** Each measurement has a key of its own, which follows from the consumer's and from what was asked. */
function checkResultKey(
  list: Checklist,
  { credentials }: Context,
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

/** The signed spec must contain the nonce hash of each provider, and no other. */
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
  { client }: Context,
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
  context: Context,
  signer: string,
  { results }: Measurement,
  keyset: Uint8Array | undefined,
) {
  if (results === undefined) return;
  const entry = results.find(({ certificate }) => certificate.startsWith(`${signer}/certificates/`));
  const found = await list.check('it has a result', () => {
    if (entry === undefined) throw new DoesNotHold('there is none that names a certificate of it');
    return { value: entry };
  });
  const certificate = await checkCertificate(
    list,
    context,
    signer,
    found?.certificate,
    'the certificate of the result',
  );
  const signed = await list.checkWith(
    'the result decrypts with the key of the measurement',
    [found, keyset],
    async ({ encryptedResult }, keyset) => {
      const plaintext = await decrypt(keyset, encryptedResult.ciphertext);
      return { value: unpackSignedMessage(plaintext), detail: `${encryptedResult.ciphertext.length} bytes` };
    },
  );
  await checkSignature(list, 'the result', signed, certificate);
}
