import { nonceMatches } from '@measurement-exchange/consent';
import {
  canonicalJson,
  ExchangeError,
  invalid,
  type Measurement,
  MeasurementInput,
  type RequestOf,
  type Violation,
  wishedProtocol,
} from '@measurement-exchange/contract';
import { telemetry } from '@measurement-exchange/server/telemetry';
import { shareCertificates } from '../../database/certificates.ts';
import type { Transaction } from '../../database/db.ts';
import { findByRequestId } from '../../database/measurements.ts';
import { getParties } from '../../database/parties.ts';
import { populationOfMeasurement } from '../../database/populations.ts';
import { rootsForParties } from '../../database/trustedRoots.ts';
import { insertMeasurement } from '../../database/writeMeasurements.ts';
import { partyName } from '../../domain/access.ts';
import { requireUsable } from '../../domain/certificate.ts';
import { inspectConsent } from '../../domain/consent.ts';
import { inspectMeasurement, inspectParameters } from '../../domain/findings.ts';
import { create } from '../../domain/measurement.ts';
import { candidateOf, chooseProtocol, duchiesOf } from '../../domain/protocol.ts';
import { authorOf, type Call, type Exchange } from '../context.ts';
import { contentHash, idempotently, requireSameContent } from '../idempotency.ts';
import { mutate } from '../mutate.ts';
import { trustCheck } from '../trust.ts';
import { gatherConsent, verifySpec } from './consent.ts';
import { readMeasurement } from './get.ts';
import { measurementName, viewMeasurement } from './view.ts';

export async function createMeasurement(
  exchange: Exchange,
  call: Call,
  request: RequestOf<'createMeasurement'>,
): Promise<Measurement> {
  const consumer = partyName('measurementConsumer', request.params.measurementConsumer);
  await requireConsistent(consumer, request.body);
  // The wish for a protocol is no content: a measurement that is sent back as it was read has the one that was chosen.
  const { protocolConfig: _wish, ...content } = request.body;
  const hash = contentHash(canonicalJson(MeasurementInput, content));
  const inspected = inspectMeasurement(request.body);
  const isSpecSignedBy = verifySpec(request.body);

  const {
    measurementConsumerCertificate: own,
    measurementSpec,
    dataProviders,
    protocolConfig: wish,
    ...labels
  } = request.body;
  const candidate = candidateOf(
    inspected.spec,
    Object.keys(dataProviders).length,
    exchange.protocols,
    wishedProtocol(wish, 'protocolConfig'),
  );
  // Nothing is open that is only validated.
  const place = request.validateOnly ? undefined : await exchange.openMeasurements.take(consumer);
  const shuffled = candidate.options.find(({ protocol }) => protocol === 'honestMajorityShareShuffle');
  const created = idempotently('measurements_request_id', () =>
    mutate('createMeasurement', exchange, call, request, async (tx) => {
      const entries = Object.entries(dataProviders);
      const named = [own, ...entries.map(([, entry]) => entry.dataProviderCertificate)].map(splitCertificate);
      const providers = entries.map(([name]) => name);
      const [earlier, parties, certificates, roots, population] = await Promise.all([
        findByRequestId(tx, consumer, request.requestId),
        getParties(tx, [...new Set([...providers, ...candidate.options.flatMap(duchiesOf)])]),
        shareCertificates(tx, named),
        rootsForParties(tx, [consumer, ...providers]),
        shuffled && populationOfMeasurement(tx, candidate.spec!.modelLine),
      ]);
      if (earlier !== undefined) {
        const existing = await replay(tx, consumer, earlier, hash, request.requestId!);
        return { view: () => existing };
      }
      if (place === undefined && !request.validateOnly)
        throw tooManyOpen(consumer, exchange.openMeasurements.limit);

      const now = exchange.clock();
      // All of them exist before any of them is judged.
      for (const [name] of entries) {
        if (parties.has(name)) continue;
        const metadata = { dataProvider: name };
        throw new ExchangeError('DATA_PROVIDER_NOT_FOUND', `${name} does not exist.`, { metadata });
      }
      for (const [name] of entries) {
        if (parties.get(name)!.state !== 'SUSPENDED') continue;
        const message = `${name} is suspended and takes no new requisitions.`;
        throw new ExchangeError('DATA_PROVIDER_SUSPENDED', message, { metadata: { dataProvider: name } });
      }
      requireUsable(certificates.get(own), 'measurementConsumerCertificate', now);
      for (const [name, entry] of entries) {
        const field = `dataProviders[${name}].dataProviderCertificate`;
        requireUsable(certificates.get(entry.dataProviderCertificate), field, now);
      }

      const whyUntrusted = trustCheck(roots, now);
      const facts = await gatherConsent(request.body, certificates, isSpecSignedBy, whyUntrusted);
      const { isSpecSigned } = facts;
      const { duchyOperators } = exchange;
      const circumstances = { parties, population, isSpecSigned, duchyOperators };
      const choice = chooseProtocol(candidate, dataProviders, circumstances);
      const findings = [
        ...inspectParameters(inspected.spec, choice.protocol),
        ...inspected.findings,
        ...inspectConsent(request.body, { ...facts, parties }),
        ...choice.findings,
      ];
      const change = create(
        {
          id: exchange.newId(),
          consumer,
          certificate: named[0]!.id,
          spec: measurementSpec,
          labels,
          measurementType: inspected.spec?.measurementType,
          protocol: choice.protocol,
          protocolConfig: choice.config,
          traceparent: telemetry?.traceparent(),
        },
        entries.map(([provider, entry], i) => ({
          id: exchange.newId(),
          provider,
          certificate: named[i + 1]!.id,
          publicKey: entry.dataProviderPublicKey,
          encryptedSpec: entry.encryptedRequisitionSpec,
          nonceHash: entry.nonceHash,
        })),
        now,
      );
      const requestKey = request.requestId === undefined ? undefined : { id: request.requestId, hash };
      return {
        findings,
        save: () => insertMeasurement(tx, change, requestKey, authorOf(call)),
        view: () => viewMeasurement(change.after),
      };
    }),
  );
  return place === undefined ? created : created.finally(place.done);
}

function tooManyOpen(consumer: string, limit: number): ExchangeError {
  const message = `${consumer} has ${limit} measurements that are not complete: wait for some of them, or cancel some.`;
  const violations = [{ field: 'parent', description: `has ${limit} open measurements` }];
  return new ExchangeError('TOO_MANY_OPEN_MEASUREMENTS', message, { violations });
}

/** What the names and hashes of a request must agree on, whatever the database holds. */
async function requireConsistent(consumer: string, input: MeasurementInput): Promise<void> {
  const violations: Violation[] = [];
  const own = (field: string, certificate: string, party: string) => {
    if (!certificate.startsWith(`${party}/certificates/`)) {
      violations.push({ field, description: `must be a certificate of ${party}` });
    }
  };
  own('measurementConsumerCertificate', input.measurementConsumerCertificate, consumer);
  for (const [name, entry] of Object.entries(input.dataProviders)) {
    const at = `dataProviders[${name}]`;
    own(`${at}.dataProviderCertificate`, entry.dataProviderCertificate, name);
    const nonce = entry.encryptedRequisitionSpec.nonce;
    if (nonce !== undefined && !(await nonceMatches(nonce, entry.nonceHash))) {
      const field = `${at}.encryptedRequisitionSpec.nonce`;
      violations.push({ field, description: 'does not hash to the nonceHash of the entry' });
    }
  }
  if (violations.length > 0) throw invalid(violations);
}

function splitCertificate(name: string): { party: string; id: string } {
  const [collection, party, , id] = name.split('/');
  return { party: `${collection}/${party}`, id: id! };
}

/** A retry finds its measurement as it is now. */
async function replay(
  tx: Transaction,
  consumer: string,
  earlier: { id: string; hash: Uint8Array },
  hash: Uint8Array,
  requestId: string,
): Promise<Measurement> {
  requireSameContent(earlier.hash, hash, requestId, measurementName({ consumer, id: earlier.id }));
  return readMeasurement(tx, consumer, earlier.id);
}
