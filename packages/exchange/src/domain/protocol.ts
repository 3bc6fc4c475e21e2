/** Chooses a new measurement's protocol. */
import { sameHashes } from '@measurement-exchange/consent';
import {
  type Capability,
  ExchangeError,
  type Finding,
  measurementSpecViolations,
  type PartyState,
  type Protocol,
} from '@measurement-exchange/contract';
import { finding } from './findings.ts';
import { legionsReasons, legionsRegisterReasons } from './liquidLegions.ts';
import type { StoredProtocolConfig } from './protocolConfig.ts';
import { type Candidate, duchiesOf, needsPopulation, type Option } from './protocolOptions.ts';
import { type CountingSpec, notUsed, privacyReasons, type Reason } from './protocolReasons.ts';
import {
  type Population,
  shareShuffleConfig,
  shareShuffleReasons,
  shuffledRegisterReasons,
} from './shareShuffle.ts';

/** The data providers that operate a duchy, by the duchy's name. */
export type DuchyOperators = Readonly<Record<string, readonly string[]>>;

interface Choice {
  protocol: Protocol;
  /** Undefined for a direct measurement. */
  config: StoredProtocolConfig | undefined;
  findings: Finding[];
}

export interface Circumstances {
  /** The parties that the request names, and the duchies of the protocol options, keyed by resource name. */
  parties: ReadonlyMap<string, { state: PartyState; protocols: Capability[] }>;
  /**
   * The population of the spec's model line, or the default population if the spec names no model line. Undefined if
   * this population does not exist.
   */
  population: Population | undefined;
  isSpecSigned: boolean;
  duchyOperators: DuchyOperators;
}

type Entries = Readonly<Record<string, { nonceHash: Uint8Array }>>;

export function chooseProtocol(
  { spec, options, findings: unfit, wish }: Candidate,
  entries: Entries,
  circumstances: Circumstances,
): Choice {
  const findings = [...unfit];
  if (spec === undefined) return { protocol: 'direct', config: undefined, findings };
  for (const option of options) {
    const { protocol, setting } = option;
    if (protocol === wish) requireAllowed(option, Object.keys(entries), circumstances);
    const reasons = reasonsAgainst(option, spec, entries, circumstances);
    if (reasons.length === 0) {
      const isShuffled = protocol === 'honestMajorityShareShuffle';
      const config = isShuffled ? shareShuffleConfig(spec, setting, circumstances.population!) : setting;
      return { protocol, config, findings };
    }
    findings.push(...reasons.map((reason) => notUsed(protocol, reason)));
  }
  const message =
    "Several providers and no multi-party protocol: each provider's own reach comes back, no union of them.";
  findings.push(finding('REACH_NOT_DEDUPLICATED', 'dataProviders', message));
  return { protocol: 'direct', config: undefined, findings };
}

/**
 * Returns a reason if a provider of the measurement operates the aggregator. Such a provider knows its own data and, as
 * aggregator, would also see all counts. A provider is allowed to operate a worker, because workers see only masked
 * data.
 */
function twoRolesReasons(
  { setting: { aggregator } }: Option,
  providers: string[],
  { duchyOperators }: Circumstances,
): Reason[] {
  const operators = Object.hasOwn(duchyOperators, aggregator) ? duchyOperators[aggregator]! : [];
  return providers
    .filter((name) => operators.includes(name))
    .map((name) => ({
      field: `dataProviders[${name}]`,
      reason: `its aggregator ${aggregator} belongs to ${name}`,
    }));
}

/**
 * Rejects the request if a provider runs the aggregator of the requested protocol. The exchange does not choose another
 * protocol instead.
 */
function requireAllowed(option: Option, providers: string[], circumstances: Circumstances): void {
  const [first] = twoRolesReasons(option, providers, circumstances);
  if (first === undefined) return;
  const message = `${option.protocol} is not possible: ${first.reason}. Ask for another protocol, or for none.`;
  const violations = [{ field: 'protocolConfig', description: first.reason }];
  throw new ExchangeError('PROTOCOL_NOT_ALLOWED', message, { violations });
}

function reasonsAgainst(
  option: Option,
  spec: CountingSpec,
  entries: Entries,
  circumstances: Circumstances,
): Reason[] {
  const providers = Object.keys(entries);
  const unsigned = consentReasons(spec, entries, circumstances);
  return [
    ...circumstanceReasons(option, spec, providers, circumstances),
    // Make the consent checks first. They reject a wrong number of nonce hashes, so that the parameter checks never
    // process the million hashes that a hostile spec may have.
    ...(unsigned.length > 0
      ? unsigned
      : specReasons(option, spec, providers.length, circumstances.population)),
  ];
}

function circumstanceReasons(
  option: Option,
  spec: CountingSpec,
  providers: string[],
  circumstances: Circumstances,
): Reason[] {
  const { parties, population } = circumstances;
  const reasons: Reason[] = twoRolesReasons(option, providers, circumstances);
  for (const name of providers) {
    if (parties.get(name)!.protocols.includes(option.protocol)) continue;
    reasons.push({ field: `dataProviders[${name}]`, reason: `${name} does not support it` });
  }
  for (const name of duchiesOf(option)) {
    if (parties.get(name)?.state === 'ACTIVE') continue;
    reasons.push({ field: 'protocolConfig', reason: `${name}, which takes part in it, is suspended` });
  }
  if (needsPopulation(option) && population === undefined) {
    const reason =
      spec.modelLine === undefined
        ? 'the spec names no model line, and no population is the default'
        : 'no population has the model line of the spec';
    reasons.push({ field: 'measurementSpec.message.modelLine', reason });
  }
  return reasons;
}

/**
 * Returns reasons why the consumer has not consented: the consumer did not sign the spec, or the nonce hashes in the
 * spec are not those of `entries`. In a direct measurement, the providers make these checks.
 */
function consentReasons(
  { nonceHashes }: CountingSpec,
  entries: Entries,
  { isSpecSigned }: Circumstances,
): Reason[] {
  const reasons: Reason[] = [];
  if (!isSpecSigned) {
    const reason = 'the key of measurementConsumerCertificate did not sign the message';
    reasons.push({ field: 'measurementSpec.signature', reason });
  }
  const entryHashes = Object.values(entries).map(({ nonceHash }) => nonceHash);
  if (!sameHashes(nonceHashes, entryHashes)) {
    const reason = 'the spec must list the nonceHash of each entry in dataProviders, once';
    reasons.push({ field: 'measurementSpec.message.nonceHashes', reason });
  }
  return reasons;
}

/** Explains why this protocol cannot compute the spec. Another protocol may still be usable. */
function specReasons(
  option: Option,
  spec: CountingSpec,
  providers: number,
  population: Population | undefined,
): Reason[] {
  const violations = measurementSpecViolations(spec, option.protocol);
  if (violations.length > 0) {
    return violations.map(({ field, description }) => ({
      field: `measurementSpec.message.${field}`,
      reason: `${field} ${description}`,
    }));
  }
  const isShuffled = option.protocol === 'honestMajorityShareShuffle';
  const reasons = [
    ...privacyReasons(spec, option.setting.noiseMechanism),
    ...(isShuffled
      ? shareShuffleReasons(spec, option.setting, providers)
      : legionsReasons(spec, option.setting)),
  ];
  // Stop here, because registers can be counted only if the parameters are valid.
  if (reasons.length > 0) return reasons;
  if (!isShuffled) return legionsRegisterReasons(option.protocol, spec, option.setting, providers);
  return population === undefined ? [] : shuffledRegisterReasons(spec, option.setting, population.size);
}
