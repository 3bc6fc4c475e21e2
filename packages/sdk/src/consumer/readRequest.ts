/** Validates a measurement request, and reports all violations together, using the request's field names. */
import {
  invalid,
  measurementSpecViolations,
  type PlainSpec,
  PROTOCOLS,
  type PrivacyParams,
  type Protocol,
  parseName,
  REQUIRED,
  WILDCARD,
} from '@measurement-exchange/contract';
import { MPC_PROTOCOLS, protocolMath } from '@measurement-exchange/mpc/protocols';
import { MemberReader, type Members } from './memberReader.ts';
import {
  type Interval,
  type MeasurementRequest,
  REQUEST_TYPES,
  type ReadRequest,
  type RequestType,
  type Selection,
} from './request.ts';

const DEFAULT_MAXIMUM_FREQUENCY = 10;
const EVERYBODY = { start: 0, width: 1 };

const MAX_TITLE = 200;
const COMMON = 'type title dataProviders privacy modelLine protocol referenceId requestId'.split(' ');
const OF_TYPE: Record<RequestType, string[]> = {
  reach: ['vidSampling'],
  reachAndFrequency: ['vidSampling', 'frequencyPrivacy', 'maximumFrequency'],
  impression: ['vidSampling', 'maximumFrequencyPerUser'],
  duration: ['vidSampling', 'maximumWatchDurationSeconds'],
  population: [],
};
/** The types of measurements for which the exchange can choose a duchy protocol if there are several providers. */
const OF_DUCHIES: readonly RequestType[] = ['reach', 'reachAndFrequency'];
/**
 * The protocol with the most permissive rules for samples: it even accepts samples that wrap around from 1 to 0. If a
 * request names no protocol, these rules apply to its sample, because the exchange can choose this protocol.
 */
const WITH_WRAPPED_SAMPLES = MPC_PROTOCOLS.find((name) => protocolMath(name).takesWrappedSamples)!;
const KNOWN = new Set([...COMMON, ...Object.values(OF_TYPE).flat()]);

export function readRequest(request: MeasurementRequest): ReadRequest {
  const reader = new RequestReader();
  const read = reader.request(request);
  if (reader.violations.length > 0) throw invalid(reader.violations);
  return read;
}

class RequestReader extends MemberReader {
  request(given: unknown): ReadRequest {
    const request = this.object(given, 'request') ?? {};
    const type = this.oneOf(request.type, 'type', REQUEST_TYPES) ?? 'reach';
    const belongs = (member: string) => COMMON.includes(member) || OF_TYPE[type].includes(member);
    for (const member of Object.keys(request)) {
      if (request[member] === undefined) continue;
      if (!KNOWN.has(member)) this.report(member, 'is not a known field');
      else if (!belongs(member) && request.type === type)
        this.report(member, `does not belong to the type ${type}`);
    }
    const modelLine = this.text(request.modelLine, 'modelLine', 255);
    const spec: PlainSpec = {
      nonceHashes: [],
      ...(type !== 'population' && { vidSamplingInterval: this.sampling(request.vidSampling) }),
      ...(modelLine !== undefined && { modelLine }),
      ...this.parameters(type, request),
    };
    const dataProviders = this.dataProviders(request.dataProviders, type);
    const wished = request.protocol;
    const protocol = wished === undefined ? wished : this.oneOf(wished, 'protocol', PROTOCOLS);
    const ofDuchies = dataProviders.length > 1 && OF_DUCHIES.includes(type);
    this.ranges(spec, {
      oneBudget: request.frequencyPrivacy === undefined,
      protocol: ofDuchies ? (protocol ?? WITH_WRAPPED_SAMPLES) : 'direct',
    });
    return {
      spec,
      dataProviders,
      title: this.text(request.title, 'title', MAX_TITLE),
      protocol,
      referenceId: this.text(request.referenceId, 'referenceId', 255),
      requestId: this.text(request.requestId, 'requestId', 255),
    };
  }

  private parameters(type: RequestType, request: Members) {
    if (type === 'population') return { measurementType: 'POPULATION' } as const;
    const privacyParams = this.privacy(request.privacy, 'privacy');
    switch (type) {
      case 'reach':
        return { measurementType: 'REACH', reach: { privacyParams } } as const;
      case 'reachAndFrequency': {
        const frequencyPrivacyParams =
          request.frequencyPrivacy === undefined
            ? privacyParams
            : this.privacy(request.frequencyPrivacy, 'frequencyPrivacy');
        const given = request.maximumFrequency ?? DEFAULT_MAXIMUM_FREQUENCY;
        const maximumFrequency = this.integer(given, 'maximumFrequency');
        return {
          measurementType: 'REACH_AND_FREQUENCY',
          reachAndFrequency: { reachPrivacyParams: privacyParams, frequencyPrivacyParams, maximumFrequency },
        } as const;
      }
      case 'impression': {
        const given = request.maximumFrequencyPerUser;
        const maximumFrequencyPerUser = this.integer(given, 'maximumFrequencyPerUser');
        const impression = { privacyParams, maximumFrequencyPerUser };
        return { measurementType: 'IMPRESSION', impression } as const;
      }
      case 'duration': {
        const given = request.maximumWatchDurationSeconds;
        const maximumWatchDurationPerUser = this.seconds(given, 'maximumWatchDurationSeconds');
        const duration = { privacyParams, maximumWatchDurationPerUser };
        return { measurementType: 'DURATION', duration } as const;
      }
    }
  }

  /**
   * Checks the values with the rules of the contract package, and reports violations under the request's field names.
   */
  private ranges(spec: PlainSpec, { oneBudget, protocol }: { oneBudget: boolean; protocol: Protocol }): void {
    const measurementPublicKey = { value: new Uint8Array(1) };
    const violations = measurementSpecViolations({ ...spec, measurementPublicKey }, protocol);
    for (const { field, description } of violations) {
      if (oneBudget && field.startsWith('reachAndFrequency.frequencyPrivacyParams')) continue;
      const [found, name] = CALLERS_NAMES.find(([prefix]) => field.startsWith(prefix)) ?? ['', ''];
      this.report(name + field.slice(found.length), description);
    }
  }

  private dataProviders(given: unknown, type: RequestType): ReadRequest['dataProviders'] {
    const seen = new Set<string>();
    return this.list(given, 'dataProviders').map((item, i) => {
      const at = `dataProviders[${i}]`;
      const provider = this.object(item, at, ['name', 'eventGroups', 'population']) ?? {};
      const name = this.text(provider.name, `${at}.name`, 255) ?? '';
      if (provider.name === undefined) this.report(`${at}.name`, REQUIRED);
      else if (name !== '' && (parseName('dataProvider', name)?.dataProvider ?? WILDCARD) === WILDCARD) {
        this.report(`${at}.name`, 'must match dataProviders/{dataProvider}');
      }
      if (name !== '' && seen.has(name)) this.report(`${at}.name`, 'repeats an earlier one');
      seen.add(name);
      return { name, selection: this.selection(provider, name, at, type) };
    });
  }

  private selection(provider: Members, name: string, at: string, type: RequestType): Selection {
    const member = type === 'population' ? 'eventGroups' : 'population';
    if (provider[member] !== undefined) this.report(`${at}.${member}`, `does not belong to the type ${type}`);
    return type === 'population'
      ? { population: this.population(provider.population, `${at}.population`) }
      : { eventGroups: this.eventGroups(provider.eventGroups, name, `${at}.eventGroups`) };
  }

  private population(given: unknown, at: string) {
    const { filter, interval } = (given === undefined ? {} : this.object(given, at, POPULATION)) ?? {};
    return {
      filter: this.filter(filter, `${at}.filter`),
      interval: interval === undefined ? undefined : this.interval(interval, `${at}.interval`),
    };
  }

  private eventGroups(given: unknown, provider: string, at: string) {
    const seen = new Set<string>();
    return this.list(given, at).map((item, i) => {
      const group = this.object(item, `${at}[${i}]`, EVENT_GROUP) ?? {};
      const name = this.eventGroup(group.name, provider, `${at}[${i}].name`);
      if (name !== '' && seen.has(name)) this.report(`${at}[${i}].name`, 'repeats an earlier one');
      seen.add(name);
      return {
        name,
        interval: this.interval(group.interval, `${at}[${i}].interval`),
        filter: this.filter(group.filter, `${at}[${i}].filter`),
      };
    });
  }

  /** Returns the event group's name in the form `dataProviders/x/eventGroups/y`. */
  private eventGroup(given: unknown, provider: string, at: string): string {
    const text = typeof given === 'string' ? given : '';
    const ofProvider = parseName('eventGroup', text);
    const id = (ofProvider ?? parseName('measurementConsumerEventGroup', text))?.eventGroup;
    if (given === undefined) this.report(at, REQUIRED);
    else if (
      id === undefined ||
      id === WILDCARD ||
      (ofProvider && !text.startsWith(`${provider}/`) && provider !== '')
    ) {
      this.report(at, `must be an event group of ${provider || 'the data provider'}`);
    }
    return id === undefined ? '' : `${provider}/eventGroups/${id}`;
  }

  private interval(given: unknown, at: string): Interval {
    const interval = this.object(given, at, ['start', 'end']);
    if (interval === undefined) return { start: '', end: '' };
    const start = this.time(interval.start, `${at}.start`);
    const end = this.time(interval.end, `${at}.end`);
    if (start && end && start >= end) this.report(at, 'start must be before end');
    return { start, end };
  }

  private filter(given: unknown, at: string): string | undefined {
    const filter = this.text(given, at, 100_000);
    return filter?.trim() === '' ? undefined : filter;
  }

  private privacy(given: unknown, at: string): PrivacyParams {
    const members = this.object(given, at, ['epsilon', 'delta']);
    if (members === undefined) return { epsilon: 1, delta: 0 };
    return {
      epsilon: this.number(members.epsilon, `${at}.epsilon`, 1),
      delta: this.number(members.delta, `${at}.delta`, 0),
    };
  }

  /** Rounds to 32-bit floats, as in the spec, so that we check the same values that the provider will read. */
  private sampling(given: unknown): { start: number; width: number } {
    const at = 'vidSampling';
    const { start, width } = this.object(given ?? EVERYBODY, at, ['start', 'width']) ?? EVERYBODY;
    return {
      start: Math.fround(this.number(start, `${at}.start`, 0)),
      width: Math.fround(this.number(width, `${at}.width`, 1)),
    };
  }
}

const POPULATION = ['filter', 'interval'];
const EVENT_GROUP = ['name', 'interval', 'filter'];

/**
 * Maps the fields of the spec to the fields of the request. Longer prefixes come first, because the first match is
 * used.
 */
const CALLERS_NAMES: [field: string, caller: string][] = [
  ['reachAndFrequency.frequencyPrivacyParams', 'frequencyPrivacy'],
  ['reachAndFrequency.reachPrivacyParams', 'privacy'],
  ['reachAndFrequency.', ''],
  ['reach.privacyParams', 'privacy'],
  ['impression.privacyParams', 'privacy'],
  ['impression.', ''],
  ['duration.privacyParams', 'privacy'],
  ['duration.maximumWatchDurationPerUser', 'maximumWatchDurationSeconds'],
  ['vidSamplingInterval', 'vidSampling'],
];
