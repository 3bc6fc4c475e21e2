import { createPrivateKey, sign } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import { type MeasurementInput, specs } from '@measurement-exchange/contract';
import { createRoot, issueLeaf, type Leaf, type Root as MadeRoot } from '@measurement-exchange/sdk/identity';
import { beforeAll, expect, it } from 'vitest';
import { inspectConsent } from '../../domain/consent.ts';
import { gatherConsent, verifySpec } from './load.ts';

const TIME = Date.UTC(2027, 0, 15);
const NOW = '2027-01-15T00:00:00.000000Z';
const ACME = 'measurementConsumers/acme';
const TV = 'dataProviders/tv';
const RADIO = 'dataProviders/radio';
const message = Buffer.from('spec');
const keyset = Uint8Array.of(1, 2, 3);

let root: MadeRoot;
let leaf: Leaf;
let stranger: Leaf;

beforeAll(async () => {
  root = await createRoot('Root', TIME);
  leaf = await issueLeaf(root, 'leaf', TIME);
  stranger = await issueLeaf(await createRoot('Stranger', TIME), 'leaf', TIME);
});

const published = (data: Uint8Array) => ({
  message: toBinary(
    specs.EncryptionPublicKeySchema,
    create(specs.EncryptionPublicKeySchema, { data, format: specs.EncryptionPublicKey_Format.TINK_KEYSET }),
  ),
  signature: Uint8Array.of(1),
});

/**
 * Returns the findings for a valid request of Acme to two providers. Tests replace parts of the request or of the
 * stored data.
 */
async function consent({
  signer = leaf,
  own = leaf,
  theirs = leaf,
  sent = keyset,
  registered = published(keyset) as ReturnType<typeof published> | null,
  roots = [] as ReturnType<typeof trusted>,
} = {}) {
  const signature = sign('sha256', message, createPrivateKey(signer.privateKeyPem));
  const entry = (name: string) => ({
    dataProviderCertificate: `${name}/certificates/c`,
    dataProviderPublicKey: { '@type': 't', data: name === TV ? sent : keyset },
  });
  const input = {
    measurementConsumerCertificate: `${ACME}/certificates/c`,
    measurementSpec: { message, signature },
    dataProviders: { [TV]: entry(TV), [RADIO]: entry(RADIO) },
  } as unknown as MeasurementInput;
  const certificates = new Map([
    [`${ACME}/certificates/c`, { party: ACME, x509Der: own.der }],
    [`${TV}/certificates/c`, { party: TV, x509Der: theirs.der }],
    [`${RADIO}/certificates/c`, { party: RADIO, x509Der: leaf.der }],
  ]);
  const parties = new Map([
    [TV, { publicKey: registered ?? undefined }],
    [RADIO, { publicKey: published(keyset) }],
  ]);
  const { untrusted, areSpecsSigned } = await gatherConsent([verifySpec(input)], certificates, roots, NOW);
  const findings = inspectConsent(input, { untrusted, isSpecSigned: areSpecsSigned[0]!, parties });
  return findings.map(({ code, field }) => `${code} ${field}`);
}

const trusted = (party?: string) => [
  { party, x509Der: Buffer.from(root.certificatePem.replace(/-----[^-]+-----|\s/g, ''), 'base64') },
];

it('reports no findings for valid consent', async () => {
  expect(await consent()).toEqual([]);
  expect(await consent({ roots: trusted() })).toEqual([]);
});

it("reports a spec that was not signed with the key of the consumer's certificate", async () => {
  expect(await consent({ signer: stranger })).toEqual(['SPEC_SIGNATURE_INVALID measurementSpec.signature']);
});

it('reports a certificate that no root trusted for its party issued, if there is such a root', async () => {
  expect(await consent({ own: stranger, signer: stranger, roots: trusted() })).toEqual([
    'CERTIFICATE_UNTRUSTED measurementConsumerCertificate',
  ]);
  expect(await consent({ theirs: stranger, roots: trusted() })).toEqual([
    `CERTIFICATE_UNTRUSTED dataProviders[${TV}].dataProviderCertificate`,
  ]);
  expect(await consent({ theirs: stranger, roots: trusted(ACME) })).toEqual([]);
});

it('reports a public key that differs from the one that the provider publishes, if it publishes one', async () => {
  expect(await consent({ sent: Uint8Array.of(1, 2, 4) })).toEqual([
    `PUBLIC_KEY_NOT_CURRENT dataProviders[${TV}].dataProviderPublicKey.data`,
  ]);
  // A whole EncryptionPublicKey message does not match the published key, because the field expects only the keyset.
  expect(await consent({ sent: published(keyset).message })).toHaveLength(1);
  expect(await consent({ sent: Uint8Array.of(9), registered: null })).toEqual([]);
});

it('verifies the signature with the current certificate, not with a cached one of the same name', async () => {
  const unsigned = ['SPEC_SIGNATURE_INVALID measurementSpec.signature'];
  for (const _ of ['not known', 'remembered']) {
    expect(await consent({ own: leaf, signer: leaf })).toEqual([]);
    expect(await consent({ own: leaf, signer: stranger })).toEqual(unsigned);
    expect(await consent({ own: stranger, signer: leaf })).toEqual(unsigned);
    expect(await consent({ own: stranger, signer: stranger })).toEqual([]);
  }
});
