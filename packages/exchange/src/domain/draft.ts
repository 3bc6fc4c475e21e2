/**
 * Makes all checks of a new measurement that do not need the database. newMeasurement.ts makes the remaining checks,
 * after the exchange has loaded the database rows that the draft refers to.
 */
import {
  decodeMeasurementSpec,
  invalid,
  type MeasurementInput,
  type PlainSpec,
  type Violation,
  wishedProtocol,
} from '@measurement-exchange/contract';
import type { NewMeasurement, NewRequisition } from './measurement.ts';
import type { DecodedSpec } from './measurementFindings.ts';
import {
  type Candidate,
  candidateOf,
  duchiesOf,
  needsPopulation,
  type Protocols,
} from './protocolOptions.ts';

/**
 * A checked request, the records to create from it, and the resources whose database rows `decideMeasurement` needs.
 */
export interface Draft {
  input: MeasurementInput;
  decoded: DecodedSpec;
  candidate: Candidate;
  measurement: Omit<NewMeasurement, 'id' | 'protocol' | 'protocolConfig' | 'traceparent'>;
  requisitions: Omit<NewRequisition, 'id'>[];
  /** The consumer's certificate, followed by each data provider's certificate. */
  certificates: { party: string; id: string }[];
  dataProviders: string[];
  duchies: string[];
  needsPopulation: boolean;
}

/**
 * Checks a request and drafts its measurement. `wrongNonces` contains the data providers for which the request includes
 * a nonce that does not match its hash.
 */
export function draftMeasurement(
  consumer: string,
  input: MeasurementInput,
  wrongNonces: ReadonlySet<string>,
  enabled: Protocols,
): Draft {
  requireConsistent(consumer, input, wrongNonces);
  const decoded = decodeMeasurementSpec(input.measurementSpec.message);
  const spec = 'spec' in decoded ? decoded.spec : undefined;
  const measurement = measurementOf(consumer, input, spec);
  const requisitions = requisitionsOf(input);
  const wish = wishedProtocol(input.protocolConfig, 'protocolConfig');
  const candidate = candidateOf(spec, requisitions.length, enabled, wish);
  return {
    input,
    decoded,
    candidate,
    measurement,
    requisitions,
    certificates: [
      { party: consumer, id: measurement.certificate },
      ...requisitions.map(({ provider, certificate }) => ({ party: provider, id: certificate })),
    ],
    dataProviders: requisitions.map(({ provider }) => provider),
    duchies: candidate.options.flatMap(duchiesOf),
    needsPopulation: candidate.options.some(needsPopulation),
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

function measurementOf(
  consumer: string,
  input: MeasurementInput,
  spec: PlainSpec | undefined,
): Draft['measurement'] {
  const {
    measurementConsumerCertificate,
    measurementSpec,
    encryptedQuestion,
    dataProviders: _entries,
    protocolConfig: _wish,
    ...labels
  } = input;
  return {
    consumer,
    certificate: certificateId(measurementConsumerCertificate),
    spec: measurementSpec,
    labels,
    question: encryptedQuestion,
    measurementType: spec?.measurementType,
  };
}

function requisitionsOf({ dataProviders }: MeasurementInput): Draft['requisitions'] {
  return Object.entries(dataProviders).map(([provider, entry]) => ({
    provider,
    certificate: certificateId(entry.dataProviderCertificate),
    publicKey: entry.dataProviderPublicKey,
    encryptedSpec: entry.encryptedRequisitionSpec,
    nonceHash: entry.nonceHash,
  }));
}

function certificateId(name: string): string {
  return name.split('/')[3]!;
}
