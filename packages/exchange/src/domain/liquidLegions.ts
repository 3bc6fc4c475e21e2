/** Explains why a Liquid Legions protocol cannot be used for a spec. */
import {
  knownRegisterCount,
  type LiquidLegionsConfig,
  type LiquidLegionsProtocol,
  legionsNoiseRegisterCount,
  legionsNoiseShapes,
  legionsNoiseTupleCount,
  legionsRegisterCount,
  MAX_LEGIONS_NOISE,
  MAX_LEGIONS_REGISTERS,
  type MpcNoiseShape,
  mpcNoiseOffset,
  type PrivacyParams,
  ringOf,
} from '@measurement-exchange/contract';
import type { CountingSpec, Reason } from './protocolReasons.ts';

export function legionsReasons(spec: CountingSpec, { maximumFrequency }: LiquidLegionsConfig): Reason[] {
  if (spec.measurementType === 'REACH') return [];
  if (spec.reachAndFrequency.maximumFrequency <= maximumFrequency!) return [];
  const reason = `maximumFrequency must be at most ${maximumFrequency}`;
  return [{ field: 'measurementSpec.message.reachAndFrequency.maximumFrequency', reason }];
}

/** Returns a reason if the computation would need more registers than duchies can process. */
export function legionsRegisterReasons(
  protocol: LiquidLegionsProtocol,
  spec: CountingSpec,
  setting: LiquidLegionsConfig,
  providers: number,
): Reason[] {
  const { registers, tuples } = noiseOf(protocol, spec, setting, providers);
  const most = Math.max(registers, tuples);
  if (most > MAX_LEGIONS_NOISE) {
    const reason = `its noise would take ${most} registers, and ${MAX_LEGIONS_NOISE} are possible: raise epsilon`;
    return [{ field: 'measurementSpec.message', reason }];
  }
  const sketches = { dataProviders: providers, maxSize: setting.maxSize };
  const all = legionsRegisterCount(sketches, { duchies: ringOf(setting).length, registers, tuples });
  if (all <= MAX_LEGIONS_REGISTERS) return [];
  const reason = `${providers} data providers and the noise take ${all} registers, and ${MAX_LEGIONS_REGISTERS} are possible`;
  return [{ field: 'dataProviders', reason }];
}

function noiseOf(
  protocol: LiquidLegionsProtocol,
  spec: CountingSpec,
  setting: LiquidLegionsConfig,
  providers: number,
): { registers: number; tuples: number } {
  const shapes = legionsNoiseShapes(providers, ringOf(setting).length);
  const offset = (params: PrivacyParams, shape: MpcNoiseShape) =>
    mpcNoiseOffset(setting.noiseMechanism, params, shape);
  const isReach = spec.measurementType === 'REACH';
  const reach = isReach ? spec.reach.privacyParams! : spec.reachAndFrequency.reachPrivacyParams!;
  const offsets = {
    reach: offset(reach, shapes.reach),
    histogram: offset(setting.histogramPrivacyParams, shapes.histogram),
    publisher: offset(setting.publisherPrivacyParams, shapes.publisher),
  };
  const registers = legionsNoiseRegisterCount(offsets, providers, knownRegisterCount(protocol, providers));
  if (isReach) return { registers, tuples: 0 };
  const { frequencyPrivacyParams, maximumFrequency } = spec.reachAndFrequency;
  const frequency = offset(frequencyPrivacyParams!, shapes.frequency);
  return { registers, tuples: legionsNoiseTupleCount(frequency, maximumFrequency) };
}
