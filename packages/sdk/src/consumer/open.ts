/** Decrypts and verifies the results of a measurement: only what its data providers signed is returned. */

import { ConsentError, decrypt, unpackSignedMessage, verifySignature } from '@measurement-exchange/consent';
import { decodeMeasurementSpec, type Measurement, type PlainSpec } from '@measurement-exchange/contract';
import { CertificateFault, partyOf, trustedCertificate } from './certificates.ts';
import type { Dependencies } from './deps.ts';
import { type ResultFault, ResultRejected } from './errors.ts';
import { type Figures, FiguresFault, figuresOf } from './figures.ts';
import type { RequestType } from './request.ts';
import { parseResult } from './result.ts';
import { type Total, totalOf } from './total.ts';

/** The result of a measurement: the figures of each data provider, and their total. */
export interface MeasurementResult {
  measurement: string;
  type: RequestType;
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
  const decoded = decodeMeasurementSpec(measurementSpec.message);
  if ('error' in decoded) throw reject('SPEC_MALFORMED', `its measurementSpec: ${decoded.error}`);
  const { spec } = decoded;

  const bySigner = entriesBySigner(results, Object.keys(dataProviders), reject);
  const figures = await Promise.all(
    [...bySigner].map(async ([signer, entry]) => {
      try {
        return { name: signer, ...(await openEntry(deps, spec, entry, signal)) };
      } catch (error) {
        if (!isFault(error)) throw error;
        throw reject(error.code, error.message, signer, error);
      }
    }),
  );
  return {
    measurement: name,
    type: TYPES[spec.measurementType],
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
  spec: PlainSpec,
  { certificate, encryptedResult }: Entry,
  signal?: AbortSignal,
): Promise<Figures> {
  const x509 = await trustedCertificate(deps, certificate, signal);
  const signed = unpackSignedMessage(await decryptWithAny(privateKeysets(deps), encryptedResult.ciphertext));
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

export function privateKeysets({ credentials, formerEncryptionPrivateKeys = [] }: Dependencies) {
  return [credentials.encryptionPrivateKey, ...formerEncryptionPrivateKeys];
}

/** Decrypts with the first keyset that has a matching key. */
export async function decryptWithAny(keysets: Uint8Array[], ciphertext: Uint8Array): Promise<Uint8Array> {
  let fault: ConsentError | undefined;
  for (const keyset of keysets) {
    try {
      return await decrypt(keyset, ciphertext);
    } catch (error) {
      if (!(error instanceof ConsentError)) throw error;
      // The error of a key that matched is more useful than that of one that did not.
      if (fault === undefined || fault.code === 'NO_MATCHING_KEY') fault = error;
    }
  }
  throw fault;
}

function isFault(error: unknown): error is ConsentError | CertificateFault | FiguresFault {
  return error instanceof ConsentError || error instanceof CertificateFault || error instanceof FiguresFault;
}
