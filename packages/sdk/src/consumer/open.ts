/** Decrypts and verifies the results of a measurement: only what its data providers signed is returned. */

import { ConsentError, decrypt, unpackSignedMessage, verifySignature } from '@measurement-exchange/consent';
import type { Measurement, PlainSpec } from '@measurement-exchange/contract';
import { CertificateFault, partyOf, trustedCertificate } from './certificates.ts';
import type { Dependencies } from './deps.ts';
import { type ResultFault, ResultRejected } from './errors.ts';
import { type Figures, FiguresFault, figuresOf } from './figures.ts';
import { isOwnershipFault, type OwnMeasurement, requireOwn } from './own.ts';
import type { ReadRequest, RequestType } from './request.ts';
import { parseResult } from './result.ts';
import { type Total, totalOf } from './total.ts';

/** The result of a measurement: the figures of each data provider, and their total. */
export interface MeasurementResult {
  measurement: string;
  type: RequestType;
  /** The caller's own reference, if the measurement was created with one. */
  referenceId?: string;
  dataProviders: ({ name: string } & Figures)[];
  total: Total;
}

const TYPES: Record<PlainSpec['measurementType'], RequestType> = {
  REACH: 'reach',
  REACH_AND_FREQUENCY: 'reachAndFrequency',
  IMPRESSION: 'impression',
  DURATION: 'duration',
  POPULATION: 'population',
};

type Entry = NonNullable<Measurement['results']>[number];

export async function openMeasurement(
  deps: Dependencies,
  measurement: Measurement,
  request?: ReadRequest,
  signal?: AbortSignal,
): Promise<MeasurementResult> {
  const name = measurement.name ?? 'measurement';
  const reject = (code: ResultFault, message: string, signer?: string, cause?: unknown) =>
    new ResultRejected(name, code, message, signer, cause);

  const { results, measurementSpec, dataProviders = {}, protocolConfig } = measurement;
  if (results === undefined || measurementSpec === undefined) {
    const why = measurement.deleteTime ? `was removed on ${measurement.deleteTime}` : 'has not succeeded';
    throw reject('RESULT_ABSENT', `it ${why} (${measurement.state}), so there is no result to open`);
  }
  if (protocolConfig?.direct === undefined) {
    throw reject('PROTOCOL_UNSUPPORTED', 'only results of the protocol direct can be opened');
  }
  const own = await requireOwn(deps, measurement, request, signal).catch((error) => {
    if (!isOwnershipFault(error)) throw error;
    throw reject(error.code, error.message, undefined, error);
  });
  const { spec } = own;
  const bySigner = entriesBySigner(results, Object.keys(dataProviders), reject);
  const figures = await Promise.all(
    [...bySigner].map(async ([signer, entry]) => {
      try {
        return { name: signer, ...(await openEntry(deps, own, signer, entry, signal)) };
      } catch (error) {
        if (!isFault(error)) throw error;
        throw reject(error.code, error.message, signer, error);
      }
    }),
  );
  return {
    measurement: name,
    type: TYPES[spec.measurementType],
    ...(measurement.measurementReferenceId !== undefined && {
      referenceId: measurement.measurementReferenceId,
    }),
    dataProviders: figures,
    total: totalOf(figures, spec.vidSamplingInterval?.width ?? 1),
  };
}

/** Matches each data provider with its one result by names, before anything is fetched. */
function entriesBySigner(
  results: Entry[],
  providers: string[],
  reject: (code: ResultFault, message: string, signer?: string) => ResultRejected,
): Map<string, Entry> {
  const found = new Map<string, Entry>();
  for (const entry of results) {
    const signer = partyOf(entry.certificate);
    if (!providers.includes(signer)) {
      throw reject('SIGNER_FOREIGN', `${signer} is not a data provider of the measurement`, signer);
    }
    if (found.has(signer)) throw reject('SIGNER_REPEATED', 'it has another result already', signer);
    found.set(signer, entry);
  }
  return new Map(
    providers.map((provider) => {
      const entry = found.get(provider);
      if (entry === undefined) throw reject('SIGNER_MISSING', 'there is none', provider);
      return [provider, entry];
    }),
  );
}

async function openEntry(
  deps: Dependencies,
  { spec, resultKeyset }: OwnMeasurement,
  signer: string,
  { certificate, encryptedResult }: Entry,
  signal?: AbortSignal,
): Promise<Figures> {
  const x509 = await trustedCertificate(deps, signer, certificate, signal);
  const signed = unpackSignedMessage(await decrypt(resultKeyset, encryptedResult.ciphertext));
  await verifySignature(signed, x509);
  return figuresOf(spec, readResult(signed.message));
}

function readResult(bytes: Uint8Array) {
  try {
    return parseResult(bytes);
  } catch (error) {
    throw new FiguresFault('RESULT_MALFORMED', `it is no Measurement.Result: ${(error as Error).message}`);
  }
}

function isFault(error: unknown): error is ConsentError | CertificateFault | FiguresFault {
  return error instanceof ConsentError || error instanceof CertificateFault || error instanceof FiguresFault;
}
