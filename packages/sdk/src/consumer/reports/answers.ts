/**
 * Opens the result of a measurement, and reads the answer to a need from it. A need is a value that a report requires
 * from a measurement.
 */
import {
  type Measurement,
  type PlainSpec,
  type PrivacyParams,
  ringOf,
  type specs,
} from '@measurement-exchange/contract';
import type { Answer, Methodology, Need, StatedNoise } from '@measurement-exchange/reports';
import { Fault } from '../../verification/fault.ts';
import { deduplicatedFigures } from '../deduplicated.ts';
import type { Dependencies } from '../deps.ts';
import { type Figures, figuresOf } from '../figures.ts';
import { openResults } from '../open.ts';
import type { DuchyProtocol } from '../protocol.ts';
import { openQuestion } from '../question.ts';
import { asksFor } from './requests.ts';

/** The measurement exists, but cannot be used as the answer to a need (a value that the report requires). */
export class NotTheAnswer extends Fault<'QUESTION_MISSING' | 'QUESTION_DIFFERENT'> {
  override readonly name = 'NotTheAnswer';
}

/** Maps each signer to its verified answer. The common answer of duchies has the key `OF_DUCHIES`. */
export type Answers = Map<string, Answer>;

const OF_DUCHIES = 'duchies';

/** Verifies the measurement, and returns its answers. Throws `ResultRejected` if a check fails. */
export async function openAnswers(deps: Dependencies, measurement: Measurement): Promise<Answers> {
  const { spec, computed, read } = await openResults(deps, measurement);
  const answers = await read((result, signer): [string, Answer] => {
    if (computed === undefined) return [signer, directAnswer(spec, figuresOf(spec, result))];
    const figures = deduplicatedFigures(spec, result, computed);
    return [OF_DUCHIES, answerWith(spec, figures, duchyMethodology(spec, figures, result, computed))];
  });
  return new Map(answers);
}

/**
 * Throws `NotTheAnswer` unless the measurement's question (the request stored with the measurement) asks for this need.
 * Ignores the privacy parameters, because any amount of noise is acceptable.
 */
export async function requireAsked(deps: Dependencies, measurement: Measurement, need: Need): Promise<void> {
  const { name } = measurement;
  const question = await openQuestion(deps, measurement);
  if (question === undefined) {
    throw new NotTheAnswer(
      'QUESTION_MISSING',
      `${name} has no stored question, so nobody can tell what it asks: use fewer event groups or shorter filters`,
    );
  }
  if (asksFor(question, need)) return;
  throw new NotTheAnswer('QUESTION_DIFFERENT', `${name} asks something else than what the report needs`);
}

/**
 * Returns the answer to a need for these data providers. If duchies computed the measurement, `answers` has one answer
 * for all data providers. Otherwise, the need is for only one data provider, and this provider signed the answer.
 */
export function answerFor(answers: Answers, [dataProvider]: readonly string[]): Answer | undefined {
  return answers.get(OF_DUCHIES) ?? answers.get(dataProvider!);
}

function directAnswer(spec: PlainSpec, figures: Figures): Answer {
  return answerWith(spec, figures, { protocol: 'direct', ...sampleAndNoise(spec, figures) });
}

function answerWith(spec: PlainSpec, figures: Figures, methodology: Methodology): Answer {
  const { reach, impressions, watchDurationSeconds, frequency, statedCap: cap } = figures;
  const { value } = (reach ?? impressions ?? watchDurationSeconds)!;
  if (spec.measurementType !== 'REACH_AND_FREQUENCY') {
    return { value, methodology, ...(cap !== undefined && { cap }) };
  }
  return { value, methodology, shares: (frequency ?? []).map(({ share }) => share.value) };
}

function duchyMethodology(
  spec: PlainSpec,
  figures: Figures,
  { reach }: specs.Measurement_Result,
  { protocol, config }: DuchyProtocol,
): Methodology {
  const common = sampleAndNoise(spec, figures);
  if (protocol === 'honestMajorityShareShuffle') {
    const { methodology } = reach!;
    const stated = methodology.case === protocol ? methodology.value.frequencyVectorSize : 0;
    return { ...common, protocol, frequencyVectorSize: Number(stated) };
  }
  const { decayRate, maxSize } = config;
  return {
    ...{ ...common, protocol, decayRate, maxSize, duchies: ringOf(config).length },
    ...('samplingIndicatorSize' in config && { samplingIndicatorSize: config.samplingIndicatorSize }),
  };
}

/**
 * Returns the width of the sample, and the noise. The width and the privacy parameters come from the spec, which this
 * consumer signed. The noise mechanism comes from the result.
 */
function sampleAndNoise(
  spec: PlainSpec,
  { noiseMechanism: mechanism }: Figures,
): { width: number; noise?: StatedNoise } {
  const width = spec.vidSamplingInterval?.width ?? 1;
  if (mechanism === undefined) return { width };
  const { params, frequencyParams } = paramsIn(spec);
  return {
    width,
    noise: { mechanism, ...(params && { params }), ...(frequencyParams && { frequencyParams }) },
  };
}

function paramsIn(spec: PlainSpec): Record<'params' | 'frequencyParams', PrivacyParams | undefined> {
  switch (spec.measurementType) {
    case 'REACH':
      return { params: spec.reach.privacyParams, frequencyParams: undefined };
    case 'REACH_AND_FREQUENCY': {
      const { reachPrivacyParams: params, frequencyPrivacyParams: frequencyParams } = spec.reachAndFrequency;
      return { params, frequencyParams };
    }
    case 'IMPRESSION':
      return { params: spec.impression.privacyParams, frequencyParams: undefined };
    case 'DURATION':
      return { params: spec.duration.privacyParams, frequencyParams: undefined };
    case 'POPULATION':
      return { params: undefined, frequencyParams: undefined };
  }
}
