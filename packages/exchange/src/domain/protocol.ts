/** Selects the protocol of a measurement, once, at its creation. */
import {
  type Finding,
  MAX_NOISE_REGISTERS,
  MAX_SHUFFLED,
  MIN_MPC_EPSILON,
  type MpcNoiseMechanism,
  measurementSpecViolations,
  mpcNoiseOffset,
  noiseRegisterCount,
  type PartyState,
  type PlainSpec,
  type PrivacyParams,
  type Protocol,
  type ShareShuffleConfig,
  sampledRegisters,
  toBase64,
} from '@measurement-exchange/contract';
import { areNonceHashesOf, finding, reachFinding } from './findings.ts';
import { populationName } from './population.ts';

/** How HonestMajorityShareShuffle is run, where it is enabled. */
export interface ShareShuffleSetting {
  /** `duchies/x`, each another one. */
  firstWorker: string;
  secondWorker: string;
  aggregator: string;
  noiseMechanism: MpcNoiseMechanism;
  reachRingModulus: number;
  reachAndFrequencyRingModulus: number;
}

/** The multi-party protocols that are enabled. */
export interface Protocols {
  honestMajorityShareShuffle?: ShareShuffleSetting;
}

/** What is stored with a measurement: the bytes of the fingerprint are base64, as in a response. */
export type StoredShareShuffleConfig = Omit<ShareShuffleConfig, 'populationFingerprint'> & {
  populationFingerprint: string;
};

export interface Choice {
  protocol: Protocol;
  /** Of honestMajorityShareShuffle only. */
  config: StoredShareShuffleConfig | undefined;
  findings: Finding[];
}

/** A measurement that a multi-party protocol could compute, if everything fits. */
export interface Candidate {
  spec: Extract<PlainSpec, { measurementType: 'REACH' | 'REACH_AND_FREQUENCY' }>;
  setting: ShareShuffleSetting | undefined;
}

export function duchiesOf({ firstWorker, secondWorker, aggregator }: ShareShuffleSetting): string[] {
  return [firstWorker, secondWorker, aggregator];
}

/** Undefined where there are no people of several data providers to be counted once. */
export function candidateOf(
  spec: PlainSpec | undefined,
  providers: number,
  enabled: Protocols,
): Candidate | undefined {
  if (providers < 2) return undefined;
  if (spec?.measurementType !== 'REACH' && spec?.measurementType !== 'REACH_AND_FREQUENCY') return undefined;
  return { spec, setting: enabled.honestMajorityShareShuffle };
}

/** What the choice depends on beside the request. */
export interface Circumstances {
  /** The parties of the request and the duchies of the setting, by name. */
  parties: ReadonlyMap<string, { state: PartyState; protocols: Protocol[] }>;
  /** That of the spec's model line, or the default one where the spec names none. */
  population: { id: string; size: number; fingerprint: Uint8Array } | undefined;
  /** Whether the key of the consumer's certificate signed the spec. */
  isSpecSigned: boolean;
}

/** The entries of a request, by the name of the data provider. */
type Entries = Readonly<Record<string, { nonceHash: Uint8Array }>>;

export function chooseProtocol(
  candidate: Candidate | undefined,
  entries: Entries,
  circumstances: Circumstances,
): Choice {
  if (candidate === undefined) return { protocol: 'direct', config: undefined, findings: [] };
  const { spec, setting } = candidate;
  if (setting === undefined) return { protocol: 'direct', config: undefined, findings: [reachFinding()] };
  const providers = Object.keys(entries);
  const unsigned = consentFindings(spec, entries, circumstances);
  const findings = [
    ...circumstanceFindings(spec, setting, providers, circumstances),
    // The parameters are read only where the spec lists as many nonce hashes as there are entries, not a million.
    ...(unsigned.length > 0
      ? unsigned
      : specFindings(spec, setting, providers.length, circumstances.population)),
  ];
  if (findings.length > 0) {
    return { protocol: 'direct', config: undefined, findings: [...findings, reachFinding()] };
  }
  const { firstWorker, secondWorker, aggregator, noiseMechanism } = setting;
  const { id, fingerprint } = circumstances.population!;
  const config = {
    ...{ firstWorker, secondWorker, aggregator, noiseMechanism },
    ringModulus: ringModulusOf(spec, setting),
    population: populationName(id),
    populationFingerprint: toBase64(fingerprint),
  };
  return { protocol: 'honestMajorityShareShuffle', config, findings: [] };
}

function notUsed(field: string, reason: string): Finding {
  return finding('PROTOCOL_NOT_USED', field, `honestMajorityShareShuffle is not used: ${reason}.`);
}

function circumstanceFindings(
  spec: Candidate['spec'],
  setting: ShareShuffleSetting,
  providers: string[],
  { parties, population }: Circumstances,
): Finding[] {
  const findings: Finding[] = [];
  for (const name of providers) {
    if (parties.get(name)!.protocols.includes('honestMajorityShareShuffle')) continue;
    findings.push(notUsed(`dataProviders[${name}]`, `${name} does not support it`));
  }
  for (const name of duchiesOf(setting)) {
    if (parties.get(name)?.state === 'ACTIVE') continue;
    findings.push(notUsed('protocolConfig', `${name}, which takes part in it, is suspended`));
  }
  if (population === undefined) {
    const field = 'measurementSpec.message.modelLine';
    const reason =
      spec.modelLine === undefined
        ? 'the spec names no model line, and no population is the default'
        : 'no population has the model line of the spec';
    findings.push(notUsed(field, reason));
  }
  return findings;
}

/** A direct measurement is relayed as it is, and its providers judge it; duchies take part only in what is signed whole. */
function consentFindings(
  { nonceHashes }: Candidate['spec'],
  entries: Entries,
  { isSpecSigned }: Circumstances,
): Finding[] {
  const findings: Finding[] = [];
  if (!isSpecSigned) {
    const reason = 'the key of measurementConsumerCertificate did not sign the message';
    findings.push(notUsed('measurementSpec.signature', reason));
  }
  if (!areNonceHashesOf(Object.values(entries), nonceHashes)) {
    const reason = 'the spec must list the nonceHash of each entry in dataProviders, once';
    findings.push(notUsed('measurementSpec.message.nonceHashes', reason));
  }
  return findings;
}

/** What the protocol cannot compute, though another one might. */
function specFindings(
  spec: Candidate['spec'],
  setting: ShareShuffleSetting,
  providers: number,
  population: Circumstances['population'],
): Finding[] {
  const violations = measurementSpecViolations(spec, 'honestMajorityShareShuffle');
  if (violations.length > 0) {
    return violations.map(({ field, description }) =>
      notUsed(`measurementSpec.message.${field}`, `${field} ${description}`),
    );
  }
  const findings: Finding[] = [];
  const check = (field: string, ok: boolean, reason: string) => {
    if (!ok) findings.push(notUsed(`measurementSpec.message.${field}`, reason));
  };
  const checkPrivacy = (field: string, { epsilon, delta }: PrivacyParams) => {
    if (setting.noiseMechanism === 'NONE') return;
    check(`${field}.epsilon`, epsilon >= MIN_MPC_EPSILON, `epsilon must be at least ${MIN_MPC_EPSILON}`);
    check(`${field}.delta`, delta > 0, 'delta must be above 0');
  };
  const modulus = ringModulusOf(spec, setting);
  if (spec.measurementType === 'REACH') {
    checkPrivacy('reach.privacyParams', spec.reach.privacyParams!);
    const reason = `there are ${providers} data providers, and it takes at most ${modulus - 1}`;
    if (providers >= modulus) findings.push(notUsed('dataProviders', reason));
  } else {
    const { reachPrivacyParams, frequencyPrivacyParams, maximumFrequency } = spec.reachAndFrequency;
    checkPrivacy('reachAndFrequency.reachPrivacyParams', reachPrivacyParams!);
    checkPrivacy('reachAndFrequency.frequencyPrivacyParams', frequencyPrivacyParams!);
    const field = 'reachAndFrequency.maximumFrequency';
    const reason = `maximumFrequency, times ${providers} data providers, must be below ${modulus - 1}`;
    check(field, maximumFrequency * providers + 1 < modulus, reason);
  }
  // What the registers are counted from is sound now.
  if (findings.length > 0 || population === undefined) return findings;
  return registerFindings(spec, setting, providers, population.size);
}

/** What would be nobody, or more than duchies can hold. */
function registerFindings(
  spec: Candidate['spec'],
  setting: ShareShuffleSetting,
  providers: number,
  people: number,
): Finding[] {
  const noise = noiseRegistersOf(spec, setting, providers);
  if (noise > MAX_NOISE_REGISTERS) {
    const reason = `its noise would take ${noise} registers, and ${MAX_NOISE_REGISTERS} are possible: raise epsilon`;
    return [notUsed('measurementSpec.message', reason)];
  }
  const { count: sample } = sampledRegisters(people, spec.vidSamplingInterval!);
  const field = 'measurementSpec.message.vidSamplingInterval.width';
  if (sample === 0) {
    return [notUsed(field, `the interval has nobody of the ${people} people of the population: widen it`)];
  }
  if (sample + 2 * noise <= MAX_SHUFFLED) return [];
  const reason = `the sample has ${sample} people, and about ${MAX_SHUFFLED} are possible: narrow the interval`;
  return [notUsed(field, reason)];
}

/** Of one worker. */
function noiseRegistersOf(spec: Candidate['spec'], setting: ShareShuffleSetting, providers: number): number {
  if (setting.noiseMechanism === 'NONE') return 0;
  const offset = (params: PrivacyParams) => mpcNoiseOffset(setting.noiseMechanism, params);
  if (spec.measurementType === 'REACH')
    return noiseRegisterCount(offset(spec.reach.privacyParams!), 0, providers);
  const { reachPrivacyParams, frequencyPrivacyParams, maximumFrequency } = spec.reachAndFrequency;
  return noiseRegisterCount(
    offset(reachPrivacyParams!),
    offset(frequencyPrivacyParams!),
    maximumFrequency * providers,
  );
}

function ringModulusOf({ measurementType }: Candidate['spec'], setting: ShareShuffleSetting): number {
  return measurementType === 'REACH' ? setting.reachRingModulus : setting.reachAndFrequencyRingModulus;
}
