/**
 * Decides whether to create a measurement, and with which protocol. `draftMeasurement` needs only the request.
 * `decideMeasurement` also needs the rows that the request refers to.
 */
import {
  ExchangeError,
  type Finding,
  invalid,
  type MeasurementInput,
  type PlainSpec,
  type Timestamp,
  type Violation,
  wishedProtocol,
} from '@measurement-exchange/contract';
import type { Change } from './aggregate.ts';
import { type Certificate, requireUsable } from './certificate.ts';
import { type ConsentFacts, inspectConsent } from './consent.ts';
import { inspectMeasurement, inspectParameters } from './findings.ts';
import { requireFound } from './found.ts';
import { create } from './measurement.ts';
import {
  type Candidate,
  type Circumstances,
  candidateOf,
  chooseProtocol,
  duchiesOf,
  needsPopulation,
  type Protocols,
} from './protocol.ts';

/** A checked request, and the names of the rows that `decideMeasurement` needs. */
export interface Draft {
  consumer: string;
  input: MeasurementInput;
  /** Undefined if the spec cannot be decoded. */
  spec: PlainSpec | undefined;
  candidate: Candidate;
  /** The consumer's certificate, followed by each data provider's certificate. */
  certificates: { party: string; id: string }[];
  dataProviders: string[];
  duchies: string[];
  needsPopulation: boolean;
  findings: Finding[];
}

/** `wrongNonces` are the data providers whose disclosed nonce does not match the nonce hash. */
export function draftMeasurement(
  consumer: string,
  input: MeasurementInput,
  wrongNonces: ReadonlySet<string>,
  enabled: Protocols,
): Draft {
  requireConsistent(consumer, input, wrongNonces);
  const dataProviders = Object.keys(input.dataProviders);
  const { spec, findings } = inspectMeasurement(input);
  const wish = wishedProtocol(input.protocolConfig, 'protocolConfig');
  const candidate = candidateOf(spec, dataProviders.length, enabled, wish);
  const entries = Object.values(input.dataProviders);
  return {
    consumer,
    input,
    spec,
    candidate,
    certificates: [
      input.measurementConsumerCertificate,
      ...entries.map((entry) => entry.dataProviderCertificate),
    ].map(splitCertificate),
    dataProviders,
    duchies: candidate.options.flatMap(duchiesOf),
    needsPopulation: candidate.options.some(needsPopulation),
    findings,
  };
}

function requireConsistent(
  consumer: string,
  input: MeasurementInput,
  wrongNonces: ReadonlySet<string>,
): void {
  const violations: Violation[] = [];
  const requireOwn = (field: string, certificate: string, party: string) => {
    if (certificate.startsWith(`${party}/certificates/`)) return;
    violations.push({ field, description: `must be a certificate of ${party}` });
  };
  requireOwn('measurementConsumerCertificate', input.measurementConsumerCertificate, consumer);
  for (const [name, entry] of Object.entries(input.dataProviders)) {
    const at = `dataProviders[${name}]`;
    requireOwn(`${at}.dataProviderCertificate`, entry.dataProviderCertificate, name);
    if (!wrongNonces.has(name)) continue;
    const description = 'does not hash to the nonceHash of the entry';
    violations.push({ field: `${at}.encryptedRequisitionSpec.nonce`, description });
  }
  if (violations.length > 0) throw invalid(violations);
}

function splitCertificate(name: string): { party: string; id: string } {
  const [collection, party, , id] = name.split('/');
  return { party: `${collection}/${party}`, id: id! };
}

export interface NewMeasurementFacts extends Circumstances, ConsentFacts {
  parties: Circumstances['parties'] & ConsentFacts['parties'];
  /** The certificates that exist, by name. */
  certificates: ReadonlyMap<string, Certificate>;
  /** The measurement's ID, followed by one ID per requisition. */
  ids: string[];
  /** The trace context. Undefined if the request is not traced. */
  traceparent: string | undefined;
}

export function decideMeasurement(
  draft: Draft,
  facts: NewMeasurementFacts,
  now: Timestamp,
): { findings: Finding[]; change: Change } {
  requireActive(draft.dataProviders, facts.parties);
  requireUsableCertificates(draft.input, facts.certificates, now);
  const { dataProviders } = draft.input;
  const { protocol, config, findings } = chooseProtocol(draft.candidate, dataProviders, facts);
  return {
    findings: [
      ...inspectParameters(draft.spec, protocol),
      ...draft.findings,
      ...inspectConsent(draft.input, facts),
      ...findings,
    ],
    change: createFrom(draft, facts, { protocol, protocolConfig: config }, now),
  };
}

/** The error of a consumer that has reached its limit of open measurements. */
export function noRoom(consumer: string, limit: number): ExchangeError {
  const message = `${consumer} has ${limit} measurements that are not complete: wait for some of them, or cancel some.`;
  const violations = [{ field: 'parent', description: `has ${limit} open measurements` }];
  return new ExchangeError('TOO_MANY_OPEN_MEASUREMENTS', message, { violations });
}

/** Checks that all data providers exist. Only then checks that they are not suspended. */
function requireActive(dataProviders: string[], parties: NewMeasurementFacts['parties']): void {
  for (const name of dataProviders) requireFound(parties.get(name), 'DATA_PROVIDER_NOT_FOUND', name);
  const dataProvider = dataProviders.find((name) => parties.get(name)!.state === 'SUSPENDED');
  if (dataProvider === undefined) return;
  const message = `${dataProvider} is suspended and takes no new requisitions.`;
  throw new ExchangeError('DATA_PROVIDER_SUSPENDED', message, { metadata: { dataProvider } });
}

function requireUsableCertificates(
  { measurementConsumerCertificate: own, dataProviders }: MeasurementInput,
  certificates: ReadonlyMap<string, Certificate>,
  now: Timestamp,
): void {
  requireUsable(certificates.get(own), 'measurementConsumerCertificate', now);
  for (const [name, { dataProviderCertificate }] of Object.entries(dataProviders)) {
    const field = `dataProviders[${name}].dataProviderCertificate`;
    requireUsable(certificates.get(dataProviderCertificate), field, now);
  }
}

function createFrom(
  { consumer, input, spec, certificates }: Draft,
  { ids, traceparent }: NewMeasurementFacts,
  chosen: Pick<Parameters<typeof create>[0], 'protocol' | 'protocolConfig'>,
  now: Timestamp,
): Change {
  const {
    measurementConsumerCertificate: _,
    protocolConfig: _wish,
    measurementSpec,
    dataProviders,
    encryptedQuestion,
    ...labels
  } = input;
  return create(
    {
      ...chosen,
      id: ids[0]!,
      consumer,
      certificate: certificates[0]!.id,
      spec: measurementSpec,
      labels,
      question: encryptedQuestion,
      measurementType: spec?.measurementType,
      traceparent,
    },
    Object.entries(dataProviders).map(([provider, entry], i) => ({
      id: ids[i + 1]!,
      provider,
      certificate: certificates[i + 1]!.id,
      publicKey: entry.dataProviderPublicKey,
      encryptedSpec: entry.encryptedRequisitionSpec,
      nonceHash: entry.nonceHash,
    })),
    now,
  );
}
