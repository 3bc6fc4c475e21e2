import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { anyPack } from '@bufbuild/protobuf/wkt';
import { type MeasurementInput, type Protocol, specs, TYPE_URLS } from '@measurement-exchange/contract';
import { describe, expect, it } from 'vitest';
import {
  enforce,
  FINDING_CODES,
  type FindingCode,
  finding,
  inspectMeasurement,
  inspectParameters,
  inspectResult,
  reachFinding,
} from './findings.ts';

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
  const inspected = inspectMeasurement(input);
  const { spec } = inspected;
  const findings = [...inspectParameters(spec, protocol), ...inspected.findings];
  return {
    measurementType: spec?.measurementType,
    findings: findings.map(({ code, field, message }) => ({ code, field, message })),
  };
}

describe('a measurement', () => {
  it('that is valid has its type and no findings', () => {
    expect(inspect(specBytes())).toEqual({ measurementType: 'REACH', findings: [] });
  });

  it('whose spec cannot be read has no type', () => {
    expect(inspect(Buffer.from('{'))).toMatchObject({
      measurementType: undefined,
      findings: [
        {
          code: 'SPEC_UNDECODABLE',
          field: 'measurementSpec.message',
          message: expect.stringMatching(/^The message is not a MeasurementSpec: .+\.$/),
        },
      ],
    });
  });

  it('may have a sampling interval that wraps where its protocol lets it', () => {
    const spec = specBytes({ vidSamplingInterval: { start: 0.75, width: 0.5 } });
    expect(inspect(spec).findings).toMatchObject([{ field: 'measurementSpec.message.vidSamplingInterval' }]);
    expect(inspect(spec, {}, 'honestMajorityShareShuffle').findings).toEqual([]);
  });

  it('has a finding for each invalid parameter, and still has its type', () => {
    const spec = specBytes({
      vidSamplingInterval: { start: 0, width: 2 },
      measurementType: { case: 'reach', value: {} },
    });
    const { measurementType, findings } = inspect(spec);
    expect(measurementType).toBe('REACH');
    expect(findings.map(({ code, field }) => `${code} ${field}`)).toEqual([
      'SPEC_PARAMETER_INVALID measurementSpec.message.vidSamplingInterval.width',
      'SPEC_PARAMETER_INVALID measurementSpec.message.vidSamplingInterval',
      'SPEC_PARAMETER_INVALID measurementSpec.message.reach.privacyParams',
    ]);
    expect(findings[2]!.message).toBe('reach.privacyParams is required.');
  });

  it.each([
    ['none', [], []],
    ['those of the entries in any order', [hash(2), hash(1)], []],
    ['one that is of no entry', [hash(1), hash(3)], ['NONCE_HASHES_MISMATCH']],
    ['too few', [hash(1)], ['NONCE_HASHES_MISMATCH']],
    ['too many', [hash(1), hash(2), hash(3)], ['NONCE_HASHES_MISMATCH']],
  ])('may list as nonce hashes %s: %#', (_title, nonceHashes, codes) => {
    const { findings } = inspect(specBytes({ nonceHashes }));
    expect(findings.map(({ code }) => code)).toEqual(codes);
    for (const { field } of findings) expect(field).toBe('measurementSpec.message.nonceHashes');
  });

  it('has a finding for each entry with an unknown type URL', () => {
    const first = {
      dataProviderPublicKey: { '@type': 'x/y', data: Uint8Array.of(1) },
      encryptedRequisitionSpec: { ciphertext: Uint8Array.of(1), typeUrl: 'x/z' },
    };
    const { EncryptionPublicKey, RequisitionSpec, SignedMessage } = TYPE_URLS;
    expect(inspect(specBytes(), first).findings).toEqual([
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
    expect(inspect(specBytes(), sealed).findings).toEqual([]);
  });

  it('of reach without a union has a finding', () => {
    expect(reachFinding()).toMatchObject({ code: 'REACH_NOT_DEDUPLICATED', field: 'dataProviders' });
  });
});

it('a result is of a type that the consumer knows, or a finding', () => {
  expect(inspectResult(TYPE_URLS.MeasurementResult)).toEqual([]);
  expect(inspectResult(TYPE_URLS.SignedMessage)).toEqual([]);
  expect(inspectResult('x/y')).toMatchObject([
    { code: 'TYPE_URL_UNKNOWN', field: 'encryptedResult.typeUrl' },
  ]);
});

describe('findings', () => {
  const all = (Object.keys(FINDING_CODES) as FindingCode[]).map((code) => finding(code, 'f', 'Wrong.'));

  it('have the remedy of their code, or a more specific one', () => {
    for (const { code, field, message, remedy } of all) {
      expect(remedy).toBe(FINDING_CODES[code as FindingCode].remedy);
      expect([field, message]).toEqual(['f', 'Wrong.']);
    }
    expect(finding('TYPE_URL_UNKNOWN', 'f', 'm', 'Do this.').remedy).toBe('Do this.');
  });

  it('refuse nothing under advisory checks', () => {
    expect(() => enforce('advisory', all)).not.toThrow();
  });

  it('that only inform refuse nothing under strict checks either', () => {
    expect(() => enforce('strict', [])).not.toThrow();
    expect(() => enforce('strict', [reachFinding()])).not.toThrow();
  });

  it('become one error under strict checks, with each code once and each field', () => {
    const findings = [
      reachFinding(),
      finding('TYPE_URL_UNKNOWN', 'a', 'A is wrong.'),
      finding('TYPE_URL_UNKNOWN', 'b', 'B is wrong.'),
      finding('SPEC_UNDECODABLE', 'c', 'C is wrong.', 'Mend it.'),
    ];
    const { remedy } = FINDING_CODES.TYPE_URL_UNKNOWN;
    expect(() => enforce('strict', findings)).toThrow(
      expect.objectContaining({
        reason: 'CHECK_FAILED',
        message: `a: A is wrong. ${remedy}`,
        metadata: { codes: 'TYPE_URL_UNKNOWN,SPEC_UNDECODABLE' },
        violations: [
          { field: 'a', description: `TYPE_URL_UNKNOWN: A is wrong. ${remedy}` },
          { field: 'b', description: `TYPE_URL_UNKNOWN: B is wrong. ${remedy}` },
          { field: 'c', description: 'SPEC_UNDECODABLE: C is wrong. Mend it.' },
        ],
      }),
    );
  });

  it.each([
    ['TYPE_ALREADY_REGISTERED', 'EVENT_GROUP_METADATA_DESCRIPTOR_ALREADY_EXISTS_WITH_TYPE'],
    ['SCHEMA_CHANGE_BREAKING', 'SCHEMA_CHANGE_BREAKING'],
  ] as const)('of %s refuse with the reason %s', (code, reason) => {
    expect(() => enforce('strict', [finding(code, 'f', 'Wrong.')])).toThrow(
      expect.objectContaining({ reason }),
    );
  });
});
