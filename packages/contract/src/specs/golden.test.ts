/**
 * Compares specs, results, keysets and their envelopes with bytes written by hand, so that a test fails if one of their
 * field numbers changes in a .proto file. A tag byte is (field number << 3 | wire type): 0a is field 1 with a length,
 * 10 is field 2 as a varint.
 */
import {
  create,
  type DescMessage,
  equals,
  fromBinary,
  type MessageInitShape,
  toBinary,
} from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { specs, tink } from '../index.ts';

const hex = (text: string) => Uint8Array.from(Buffer.from(text.replaceAll(/\s/g, ''), 'hex'));
const AA = hex('aa');
const BB = hex('bb');
const ONE = '000000000000f03f';
const HALF = '000000000000e03f';

function golden<S extends DescMessage>(title: string, schema: S, text: string, init: MessageInitShape<S>) {
  test(title, () => {
    const message = create(schema, init);
    expect(Buffer.from(toBinary(schema, message)).toString('hex')).toBe(text.replaceAll(/\s/g, ''));
    expect(equals(schema, fromBinary(schema, hex(text)), message)).toBe(true);
  });
}

describe('the protobuf encoding of keys and envelopes', () => {
  golden('SignedMessage', specs.SignedMessageSchema, '0a01aa 1201bb 1a03312e32 2206 0a0174 1201aa', {
    data: AA,
    signature: BB,
    signatureAlgorithmOid: '1.2',
    message: { typeUrl: 't', value: AA },
  });
  golden('EncryptedMessage', specs.EncryptedMessageSchema, '0a01aa 120174', { ciphertext: AA, typeUrl: 't' });
  golden('EncryptionPublicKey', specs.EncryptionPublicKeySchema, '0801 1201aa', {
    format: specs.EncryptionPublicKey_Format.TINK_KEYSET,
    data: AA,
  });
  golden('ElGamalPublicKey', specs.ElGamalPublicKeySchema, '089f03 1201aa 1a01bb', {
    ellipticCurveId: 415,
    generator: AA,
    element: BB,
  });
  golden('RandomSeed', specs.RandomSeedSchema, '0a01aa', { data: AA });
});

describe('the protobuf encoding of MeasurementSpec', () => {
  const PARAMS = `09${ONE} 11${HALF}`;
  const params = { epsilon: 1, delta: 0.5 };
  const schema = specs.MeasurementSpecSchema;

  golden('DifferentialPrivacyParams', specs.DifferentialPrivacyParamsSchema, PARAMS, params);
  golden(
    'fields outside the measurement type',
    schema,
    '0a01aa 1201aa 1201bb 1a0a 0d0000803e 150000003f 4a016d 5206 0a0174 1201aa 5a06 0a0172 120171',
    {
      serializedMeasurementPublicKey: AA,
      nonceHashes: [AA, BB],
      vidSamplingInterval: { start: 0.25, width: 0.5 },
      modelLine: 'm',
      measurementPublicKey: { typeUrl: 't', value: AA },
      reportingMetadata: { report: 'r', metric: 'q' },
    },
  );
  golden('reach and frequency', schema, `222a 0a12 ${PARAMS} 1212 ${PARAMS} 180a`, {
    measurementType: {
      case: 'reachAndFrequency',
      value: { reachPrivacyParams: params, frequencyPrivacyParams: params, maximumFrequency: 10 },
    },
  });
  golden('impression', schema, `2a16 0a12 ${PARAMS} 1007`, {
    measurementType: { case: 'impression', value: { privacyParams: params, maximumFrequencyPerUser: 7 } },
  });
  golden('duration', schema, `3220 0a12 ${PARAMS} 103c 2208 0803 1080cab5ee01`, {
    measurementType: {
      case: 'duration',
      value: {
        privacyParams: params,
        maximumWatchDurationPerUserSeconds: 60,
        maximumWatchDurationPerUser: { seconds: 3n, nanos: 500_000_000 },
      },
    },
  });
  golden('reach', schema, `3a14 0a12 ${PARAMS}`, {
    measurementType: { case: 'reach', value: { privacyParams: params } },
  });
  golden('population', schema, '4200', { measurementType: { case: 'population', value: {} } });
});

describe('the protobuf encoding of RequisitionSpec', () => {
  const INTERVAL = '0a02 0801 1202 0802';
  const ENTRY = `0a016b 120f 0a08 ${INTERVAL} 1203 0a0178`;
  const interval = { startTime: { seconds: 1n }, endTime: { seconds: 2n } };
  const entry = { key: 'k', value: { collectionInterval: interval, filter: { expression: 'x' } } };
  const schema = specs.RequisitionSpecSchema;

  golden('events', schema, `0a14 ${ENTRY} 1201aa 190807060504030201 2216 0a14 ${ENTRY} 3206 0a0174 1201bb`, {
    eventGroups: [entry],
    serializedMeasurementPublicKey: AA,
    nonce: 0x0102030405060708n,
    requisitionType: { case: 'events', value: { eventGroups: [entry] } },
    measurementPublicKey: { typeUrl: 't', value: BB },
  });
  golden('population', schema, `2a0f 0a03 0a0178 1208 ${INTERVAL}`, {
    requisitionType: { case: 'population', value: { filter: { expression: 'x' }, interval } },
  });
});

describe('the protobuf encoding of Measurement.Result', () => {
  const schema = specs.Measurement_ResultSchema;
  const noise = specs.ProtocolConfig_NoiseMechanism;
  const SKETCH = `09${ONE} 1007`;
  const sketch = { decayRate: 1, maxSize: 7n };
  const BUCKET = `0803 11${HALF}`;
  const buckets = { '3': 0.5 };

  test('uses the type name wfa.measurement.api.v2alpha.Measurement.Result', () => {
    expect(schema.typeName).toBe('wfa.measurement.api.v2alpha.Measurement.Result');
  });

  golden(
    'reach with a custom methodology and a scalar variance',
    schema,
    `0a11 082a 1002 1a0b 0a09 09${ONE}`,
    {
      reach: {
        value: 42n,
        noiseMechanism: noise.DISCRETE_GAUSSIAN,
        methodology: {
          case: 'customDirectMethodology',
          value: { variance: { type: { case: 'scalar', value: 1 } } },
        },
      },
    },
  );
  golden('reach counted deterministically', schema, '0a04 1001 2200', {
    reach: {
      noiseMechanism: noise.GEOMETRIC,
      methodology: { case: 'deterministicCountDistinct', value: {} },
    },
  });
  golden('reach from a sketch', schema, `0a0f 1003 2a0b ${SKETCH}`, {
    reach: {
      noiseMechanism: noise.NONE,
      methodology: { case: 'liquidLegionsCountDistinct', value: sketch },
    },
  });
  golden('reach by Liquid Legions', schema, '0a02 3200', {
    reach: { methodology: { case: 'liquidLegionsV2', value: {} } },
  });
  golden('reach by reach-only Liquid Legions', schema, '0a02 3a00', {
    reach: { methodology: { case: 'reachOnlyLiquidLegionsV2', value: {} } },
  });
  golden('reach by share shuffle', schema, '0a04 4202 0809', {
    reach: { methodology: { case: 'honestMajorityShareShuffle', value: { frequencyVectorSize: 9n } } },
  });

  golden(
    'frequency with a custom methodology and variances by frequency',
    schema,
    `122f 0a0b ${BUCKET} 1004 1a1e 0a1c 121a 0a0b ${BUCKET} 120b ${BUCKET}`,
    {
      frequency: {
        relativeFrequencyDistribution: buckets,
        noiseMechanism: noise.CONTINUOUS_LAPLACE,
        methodology: {
          case: 'customDirectMethodology',
          value: {
            variance: {
              type: { case: 'frequency', value: { variances: buckets, kPlusVariances: buckets } },
            },
          },
        },
      },
    },
  );
  golden('frequency counted deterministically', schema, '1202 2200', {
    frequency: { methodology: { case: 'deterministicDistribution', value: {} } },
  });
  golden('frequency from a sketch', schema, `120d 2a0b ${SKETCH}`, {
    frequency: { methodology: { case: 'liquidLegionsDistribution', value: sketch } },
  });
  golden('frequency by Liquid Legions', schema, '1202 3200', {
    frequency: { methodology: { case: 'liquidLegionsV2', value: {} } },
  });
  golden('frequency by share shuffle', schema, '1204 3a02 0809', {
    frequency: { methodology: { case: 'honestMajorityShareShuffle', value: { frequencyVectorSize: 9n } } },
  });

  golden('impressions whose variance is not available', schema, '1a0c 082a 1005 1a06 0a04 1a02 0802', {
    impression: {
      value: 42n,
      noiseMechanism: noise.CONTINUOUS_GAUSSIAN,
      methodology: {
        case: 'customDirectMethodology',
        value: { variance: { type: { case: 'unavailable', value: { reason: 2 } } } },
      },
    },
  });
  golden('impressions counted deterministically', schema, '1a04 2202 0805', {
    impression: {
      methodology: { case: 'deterministicCount', value: { customMaximumFrequencyPerUser: 5 } },
    },
  });
  golden('watch duration with a custom methodology', schema, `2213 0a02 0803 1006 1a0b 0a09 09${ONE}`, {
    watchDuration: {
      value: { seconds: 3n },
      noiseMechanism: noise.DETERMINISTIC_TRUNCATED_LAPLACE,
      methodology: {
        case: 'customDirectMethodology',
        value: { variance: { type: { case: 'scalar', value: 1 } } },
      },
    },
  });
  golden('watch duration summed deterministically', schema, '2202 2200', {
    watchDuration: { methodology: { case: 'deterministicSum', value: {} } },
  });
  golden('population', schema, '2a06 082a 1202 0805', {
    population: {
      value: 42n,
      methodology: { case: 'deterministicCount', value: { customMaximumFrequencyPerUser: 5 } },
    },
  });
});

describe('the protobuf encoding of Tink', () => {
  const TEMPLATE = '0a0174 1201aa 1803';
  const template = { typeUrl: 't', value: AA, outputPrefixType: tink.OutputPrefixType.RAW };
  const ECIES = `0801 1217 0a07 0802 1003 5a01aa 120a 1208 ${TEMPLATE} 1801 1a01aa 2201bb`;
  const ecies = {
    version: 1,
    params: {
      kemParams: {
        curveType: tink.EllipticCurveType.NIST_P256,
        hkdfHashType: tink.HashType.SHA256,
        hkdfSalt: AA,
      },
      demParams: { aeadDem: template },
      ecPointFormat: tink.EcPointFormat.UNCOMPRESSED,
    },
    x: AA,
    y: BB,
  };
  const HPKE = '0801 1206 0801 1001 1802 1a01aa';
  const hpke = {
    version: 1,
    params: {
      kem: tink.HpkeKem.DHKEM_X25519_HKDF_SHA256,
      kdf: tink.HpkeKdf.HKDF_SHA256,
      aead: tink.HpkeAead.AES_256_GCM,
    },
    publicKey: AA,
  };

  golden('Keyset', tink.KeysetSchema, '0807 1210 0a08 0a0174 1201aa 1803 1001 1807 2001', {
    primaryKeyId: 7,
    key: [
      {
        keyData: { typeUrl: 't', value: AA, keyMaterialType: tink.KeyData_KeyMaterialType.ASYMMETRIC_PUBLIC },
        status: tink.KeyStatusType.ENABLED,
        keyId: 7,
        outputPrefixType: tink.OutputPrefixType.TINK,
      },
    ],
  });
  golden('KeyTemplate', tink.KeyTemplateSchema, TEMPLATE, template);
  golden('AesGcmKeyFormat', tink.AesGcmKeyFormatSchema, '1010 1801', { keySize: 16, version: 1 });
  golden('EciesAeadHkdfPublicKey', tink.EciesAeadHkdfPublicKeySchema, ECIES, ecies);
  golden('EciesAeadHkdfPrivateKey', tink.EciesAeadHkdfPrivateKeySchema, `0801 1221 ${ECIES} 1a01aa`, {
    version: 1,
    publicKey: ecies,
    keyValue: AA,
  });
  golden('HpkePublicKey', tink.HpkePublicKeySchema, HPKE, hpke);
  golden('HpkePrivateKey', tink.HpkePrivateKeySchema, `0801 120d ${HPKE} 1a01bb`, {
    version: 1,
    publicKey: hpke,
    privateKey: BB,
  });
});

describe('the protobuf encoding of EventGroup.Metadata', () => {
  golden('descriptor name and message', specs.EventGroup_MetadataSchema, '0a0164 1206 0a0174 1201aa', {
    eventGroupMetadataDescriptor: 'd',
    metadata: { typeUrl: 't', value: AA },
  });
});
