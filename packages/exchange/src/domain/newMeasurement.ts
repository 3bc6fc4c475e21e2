/** Decides whether to create a measurement from a draft, and with which protocol. */
import {
  ExchangeError,
  type Finding,
  type MeasurementInput,
  type Timestamp,
} from '@measurement-exchange/contract';
import type { Change } from './aggregate.ts';
import { type Certificate, requireUsable } from './certificate.ts';
import { type ConsentFacts, inspectConsent } from './consent.ts';
import type { Draft } from './draft.ts';
import { requireFound } from './found.ts';
import { create } from './measurement.ts';
import { inspectMeasurement } from './measurementFindings.ts';
import { type Circumstances, chooseProtocol } from './protocol.ts';

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
  { input, decoded, candidate, measurement, requisitions, dataProviders }: Draft,
  facts: NewMeasurementFacts,
  now: Timestamp,
): { findings: Finding[]; change: Change } {
  const { ids, traceparent } = facts;
  requireActive(dataProviders, facts.parties);
  requireUsableCertificates(input, facts.certificates, now);
  const { protocol, config, findings } = chooseProtocol(candidate, input.dataProviders, facts);
  return {
    findings: [...inspectMeasurement(input, decoded, protocol), ...inspectConsent(input, facts), ...findings],
    change: create(
      { ...measurement, id: ids[0]!, protocol, protocolConfig: config, traceparent },
      requisitions.map((requisition, i) => ({ ...requisition, id: ids[i + 1]! })),
      now,
    ),
  };
}

/** Returns the error for a consumer that has reached its limit of open measurements. */
export function noRoom(consumer: string, limit: number): ExchangeError {
  const message = `${consumer} has ${limit} measurements that are not complete: wait for some of them, or cancel some.`;
  const violations = [{ field: 'parent', description: `has ${limit} open measurements` }];
  return new ExchangeError('TOO_MANY_OPEN_MEASUREMENTS', message, { violations });
}

/** Throws if a data provider does not exist. If all of them exist, throws if one is suspended. */
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
