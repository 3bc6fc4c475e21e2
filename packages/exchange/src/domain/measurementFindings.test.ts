import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { anyPack } from '@bufbuild/protobuf/wkt';
import {
  decodeMeasurementSpec,
  type MeasurementInput,
  type Protocol,
  specs,
  TYPE_URLS,
} from '@measurement-exchange/contract';
import { describe, expect, it } from 'vitest';
import { inspectMeasurement } from './measurementFindings.ts';

type SpecInit = Exclude<MessageInitShape<typeof specs.MeasurementSpecSchema>, { $typeName: string }>;

const hash = (byte: number) => new Uint8Array(32).fill(byte);

function specBytes(changes: SpecInit = {}): Uint8Array {
  const key = create(specs.EncryptionPublicKeySchema, { data: Uint8Array.of(1) });
  const spec = create(specs.MeasurementSpecSchema, {
    measurementPublicKey: anyPack(specs.EncryptionPublicKeySchema, key),
    nonceHashes: [hash(1), hash(2)],
    vidSamplingInterval: { start: 0, width: 0.5 },
    measurementType: { case: 'reach', value: { privacyParams: { epsilon: 1, delta: 0 } } },
    ...changes,
  });
  return toBinary(specs.MeasurementSpecSchema, spec);
}

const entry = (byte: number) => ({
  dataProviderCertificate: `dataProviders/p${byte}/certificates/c`,
  dataProviderPublicKey: { '@type': TYPE_URLS.EncryptionPublicKey, data: Uint8Array.of(1) },
  encryptedRequisitionSpec: { ciphertext: Uint8Array.of(1), typeUrl: TYPE_URLS.RequisitionSpec },
  nonceHash: hash(byte),
});

function inspect(message: Uint8Array, first: object = {}, protocol: Protocol = 'direct') {
  const input = {
    measurementSpec: { message, signature: Uint8Array.of(1) },
    dataProviders: { 'dataProviders/p1': { ...entry(1), ...first }, 'dataProviders/p2': entry(2) },
  } as unknown as MeasurementInput;
  const findings = inspectMeasurement(input, decodeMeasurementSpec(message), protocol);
  return findings.map(({ code, field, message }) => ({ code, field, message }));
}

describe('a measurement', () => {
  it('that is valid has no findings', () => {
    expect(inspect(specBytes())).toEqual([]);
  });

  it('whose spec cannot be read has one finding', () => {
    expect(inspect(Buffer.from('{'))).toEqual([
      {
        code: 'SPEC_UNDECODABLE',
        field: 'measurementSpec.message',
        message: expect.stringMatching(/^The message is not a MeasurementSpec: .+\.$/),
      },
    ]);
  });

  it('may have a sampling interval that wraps around only if its protocol allows it', () => {
    const spec = specBytes({ vidSamplingInterval: { start: 0.75, width: 0.5 } });
    expect(inspect(spec)).toMatchObject([{ field: 'measurementSpec.message.vidSamplingInterval' }]);
    expect(inspect(spec, {}, 'honestMajorityShareShuffle')).toEqual([]);
  });

  it('has a finding for each invalid parameter', () => {
    const spec = specBytes({
      vidSamplingInterval: { start: 0, width: 2 },
      measurementType: { case: 'reach', value: {} },
    });
    const findings = inspect(spec);
    expect(findings.map(({ code, field }) => `${code} ${field}`)).toEqual([
      'SPEC_PARAMETER_INVALID measurementSpec.message.vidSamplingInterval.width',
      'SPEC_PARAMETER_INVALID measurementSpec.message.vidSamplingInterval',
      'SPEC_PARAMETER_INVALID measurementSpec.message.reach.privacyParams',
    ]);
    expect(findings[2]!.message).toBe('reach.privacyParams is required.');
  });

  it.each([
    ['empty', [], []],
    ['those of the entries in any order', [hash(2), hash(1)], []],
    ['partly unknown', [hash(1), hash(3)], ['NONCE_HASHES_MISMATCH']],
    ['too few', [hash(1)], ['NONCE_HASHES_MISMATCH']],
    ['too many', [hash(1), hash(2), hash(3)], ['NONCE_HASHES_MISMATCH']],
  ])('has the expected findings if its nonce hashes are %s: %#', (_title, nonceHashes, codes) => {
    const findings = inspect(specBytes({ nonceHashes }));
    expect(findings.map(({ code }) => code)).toEqual(codes);
    for (const { field } of findings) expect(field).toBe('measurementSpec.message.nonceHashes');
  });

  it('has a finding for each entry with an unknown type URL', () => {
    const first = {
      dataProviderPublicKey: { '@type': 'x/y', data: Uint8Array.of(1) },
      encryptedRequisitionSpec: { ciphertext: Uint8Array.of(1), typeUrl: 'x/z' },
    };
    const { EncryptionPublicKey, RequisitionSpec, SignedMessage } = TYPE_URLS;
    expect(inspect(specBytes(), first)).toEqual([
      {
        code: 'TYPE_URL_UNKNOWN',
        field: 'dataProviders[dataProviders/p1].dataProviderPublicKey.@type',
        message: `The type is not ${EncryptionPublicKey}.`,
      },
      {
        code: 'TYPE_URL_UNKNOWN',
        field: 'dataProviders[dataProviders/p1].encryptedRequisitionSpec.typeUrl',
        message: `The type is not ${RequisitionSpec} or ${SignedMessage}.`,
      },
    ]);
    const sealed = { encryptedRequisitionSpec: { ciphertext: Uint8Array.of(1), typeUrl: SignedMessage } };
    expect(inspect(specBytes(), sealed)).toEqual([]);
  });
});
