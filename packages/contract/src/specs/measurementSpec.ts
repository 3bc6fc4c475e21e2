/** Decodes a MeasurementSpec's signed bytes to plain values. The exchange passes the bytes on unchanged. */
import { fromJson, type JsonValue as PlainJson } from '@bufbuild/protobuf';
import {
  type MeasurementSpecJson,
  type MeasurementSpecJson_Duration,
  MeasurementSpecJsonSchema,
} from '../gen/mex/contract/measurement_spec_json_pb.ts';
import {
  type DifferentialPrivacyParams,
  type MeasurementSpec,
  type MeasurementSpec_Duration,
  MeasurementSpecSchema,
} from '../gen/wfa/measurement/api/v2alpha/specs_pb.ts';
import { parseJsonBytes, toPlainJson } from '../json/json.ts';
import { cut } from '../values/cut.ts';
import { readMessage } from './wire.ts';

export interface PrivacyParams {
  epsilon: number;
  delta: number;
}

interface PlainSpecCommon {
  /**
   * `typeUrl` is absent if the spec is JSON, or if it uses the older protobuf field with plain bytes instead of an Any.
   */
  measurementPublicKey?: { typeUrl?: string; value: Uint8Array };
  vidSamplingInterval?: { start: number; width: number };
  nonceHashes: Uint8Array[];
  modelLine?: string;
}

export type PlainSpec = PlainSpecCommon &
  (
    | { measurementType: 'REACH'; reach: { privacyParams?: PrivacyParams } }
    | {
        measurementType: 'REACH_AND_FREQUENCY';
        reachAndFrequency: {
          reachPrivacyParams?: PrivacyParams;
          frequencyPrivacyParams?: PrivacyParams;
          maximumFrequency: number;
        };
      }
    | {
        measurementType: 'IMPRESSION';
        impression: { privacyParams?: PrivacyParams; maximumFrequencyPerUser: number };
      }
    | {
        measurementType: 'DURATION';
        /** `maximumWatchDurationPerUser` is in seconds. */
        duration: { privacyParams?: PrivacyParams; maximumWatchDurationPerUser?: number };
      }
    | { measurementType: 'POPULATION' }
  );

/** Decodes JSON if the first byte is `{`, which no binary spec starts with. Otherwise decodes binary protobuf. */
export function decodeMeasurementSpec(bytes: Uint8Array): { spec: PlainSpec } | { error: string } {
  try {
    return bytes[0] === 0x7b ? decodeJson(bytes) : decodeBinary(bytes);
  } catch (error) {
    return { error: reason(error) };
  }
}

/**
 * Returns the error message without the input that it quotes, because our errors must not repeat the caller's input.
 */
function reason(error: unknown): string {
  const message = error instanceof Error ? error.message : 'cannot be decoded';
  return cut(message.replace(/,? (?:got|from JSON:) ".*|\.$/s, ''), 300);
}

function decodeBinary(bytes: Uint8Array): { spec: PlainSpec } | { error: string } {
  const message = readMessage(MeasurementSpecSchema, bytes);
  const key = message.measurementPublicKey ?? { value: message.serializedMeasurementPublicKey };
  return plainSpec(message, key);
}

function decodeJson(bytes: Uint8Array): { spec: PlainSpec } | { error: string } {
  const json = toPlainJson(parseJsonBytes(bytes)) as PlainJson;
  const message = fromJson(MeasurementSpecJsonSchema, json);
  return plainSpec(message, { value: message.measurementPublicKey });
}

function plainSpec(
  message: MeasurementSpec | MeasurementSpecJson,
  key: { typeUrl?: string; value: Uint8Array },
): { spec: PlainSpec } | { error: string } {
  const common: PlainSpecCommon = {
    nonceHashes: message.nonceHashes,
    ...(key.value.length > 0 && {
      measurementPublicKey: { ...(key.typeUrl && { typeUrl: key.typeUrl }), value: key.value },
    }),
    ...(message.vidSamplingInterval && {
      vidSamplingInterval: {
        start: message.vidSamplingInterval.start,
        width: message.vidSamplingInterval.width,
      },
    }),
    ...(message.modelLine && { modelLine: message.modelLine }),
  };
  const type = message.measurementType;
  switch (type.case) {
    case 'reach': {
      const reach = privacyParams('privacyParams', type.value.privacyParams);
      return { spec: { ...common, measurementType: 'REACH', reach } };
    }
    case 'reachAndFrequency': {
      const reachAndFrequency = {
        ...privacyParams('reachPrivacyParams', type.value.reachPrivacyParams),
        ...privacyParams('frequencyPrivacyParams', type.value.frequencyPrivacyParams),
        maximumFrequency: type.value.maximumFrequency,
      };
      return { spec: { ...common, measurementType: 'REACH_AND_FREQUENCY', reachAndFrequency } };
    }
    case 'impression': {
      const impression = {
        ...privacyParams('privacyParams', type.value.privacyParams),
        maximumFrequencyPerUser: type.value.maximumFrequencyPerUser,
      };
      return { spec: { ...common, measurementType: 'IMPRESSION', impression } };
    }
    case 'duration': {
      const maximum = seconds(type.value.maximumWatchDurationPerUser);
      const duration = {
        ...privacyParams('privacyParams', type.value.privacyParams),
        ...(maximum !== undefined && { maximumWatchDurationPerUser: maximum }),
      };
      return { spec: { ...common, measurementType: 'DURATION', duration } };
    }
    case 'population':
      return { spec: { ...common, measurementType: 'POPULATION' } };
    default:
      return {
        error:
          'no measurement type is set: one of reach, reachAndFrequency, impression, duration, population is required',
      };
  }
}

function privacyParams<K extends string>(
  key: K,
  params: DifferentialPrivacyParams | undefined,
): { [P in K]?: PrivacyParams } {
  if (!params) return {};
  return { [key]: { epsilon: params.epsilon, delta: params.delta } } as { [P in K]: PrivacyParams };
}

const DURATION = /^(-?\d{1,12})(?:\.(\d{1,9}))?s$/;

function seconds(
  duration: (MeasurementSpec_Duration | MeasurementSpecJson_Duration)['maximumWatchDurationPerUser'],
): number | undefined {
  if (duration === undefined || duration === '') return undefined;
  if (typeof duration !== 'string') return Number(duration.seconds) + duration.nanos / 1e9;
  if (!DURATION.test(duration)) {
    throw new Error('duration.maximumWatchDurationPerUser is not a duration such as "3.5s"');
  }
  return Number(duration.slice(0, -1));
}
