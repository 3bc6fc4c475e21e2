import { create, toBinary } from '@bufbuild/protobuf';
import { type MeasurementInput, specs } from '@measurement-exchange/contract';
import { describe, expect, it } from 'vitest';
import { type ConsentFacts, inspectConsent, trustFindings } from './consent.ts';

const OWN = 'measurementConsumers/acme/certificates/c';
const TV = 'dataProviders/tv';
const RADIO = 'dataProviders/radio';
const keyset = Uint8Array.of(1, 2, 3);

const publicKey = {
  message: toBinary(
    specs.EncryptionPublicKeySchema,
    create(specs.EncryptionPublicKeySchema, { data: keyset }),
  ),
  signature: Uint8Array.of(1),
};

function found(changes: Partial<ConsentFacts>, sent = keyset): string[] {
  const entry = (name: string) => ({
    dataProviderCertificate: `${name}/certificates/c`,
    dataProviderPublicKey: { '@type': 't', data: name === TV ? sent : keyset },
  });
  const input = {
    measurementConsumerCertificate: OWN,
    dataProviders: { [TV]: entry(TV), [RADIO]: entry(RADIO) },
  } as unknown as MeasurementInput;
  const parties = new Map([TV, RADIO].map((name) => [name, { publicKey }]));
  const facts = { isSpecSigned: true, untrusted: new Map(), parties, ...changes };
  return inspectConsent(input, facts).map(({ code, field, message }) => `${code} ${field}: ${message}`);
}

describe('findings about consent', () => {
  it('are empty if the consent is valid', () => {
    expect(found({})).toEqual([]);
  });

  it('report an invalid signature of the spec', () => {
    expect(found({ isSpecSigned: false })).toEqual([
      expect.stringMatching(/^SPEC_SIGNATURE_INVALID measurementSpec\.signature: /),
    ]);
  });

  it('report each untrusted certificate with the reason', () => {
    const untrusted = new Map([
      [OWN, 'Expired root.'],
      [`${RADIO}/certificates/c`, 'Unknown root.'],
    ]);
    expect(found({ untrusted, isSpecSigned: false })).toEqual([
      'CERTIFICATE_UNTRUSTED measurementConsumerCertificate: Expired root.',
      expect.stringContaining('SPEC_SIGNATURE_INVALID'),
      `CERTIFICATE_UNTRUSTED dataProviders[${RADIO}].dataProviderCertificate: Unknown root.`,
    ]);
    expect(trustFindings('x509Der', undefined)).toEqual([]);
  });

  it('report a key that differs from the published one, if a key is published', () => {
    const field = `dataProviders[${TV}].dataProviderPublicKey.data`;
    const other = Uint8Array.of(1, 2, 4);
    expect(found({}, other)).toEqual([
      `PUBLIC_KEY_NOT_CURRENT ${field}: The key is not the one that ${TV} publishes now.`,
    ]);
    const parties = new Map([TV, RADIO].map((name) => [name, { publicKey: undefined }]));
    expect(found({ parties }, other)).toEqual([]);
  });
});
