/** Decrypts and verifies a measurement's results. Only figures that the expected parties signed are returned. */
import { ConsentError, decrypt, unpackSignedMessage, verifySignature } from '@measurement-exchange/consent';
import type { Measurement, PlainSpec, specs } from '@measurement-exchange/contract';
import { partyOf } from '../client/names.ts';
import { trustedCertificate } from '../verification/certificates.ts';
import { Fault } from '../verification/fault.ts';
import { deduplicatedFigures } from './deduplicated.ts';
import { certificatesOf, type Dependencies } from './deps.ts';
import { type ResultFault, ResultRejected } from './errors.ts';
import { type Figures, FiguresFault, figuresOf } from './figures.ts';
import { OwnershipFault, type OwnMeasurement, requireOwn } from './own.ts';
import { acceptedProtocol, type DuchyProtocol } from './protocol.ts';
import type { ReadRequest, RequestType } from './request.ts';
import { parseResult } from './result.ts';
import { type Total, totalOf } from './total.ts';

/** A measurement's result: figures for each data provider, and for all data providers together. */
export interface MeasurementResult {
  measurement: string;
  type: RequestType;
  referenceId?: string;
  /** All data providers in the request. If duchies computed the result, the entries contain only names. */
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

/** A verified measurement. Call `read` to decrypt and verify its results. */
export interface OpenedResults {
  spec: PlainSpec;
  /** The protocol and duchies. Undefined if each data provider computed its own result. */
  computed: DuchyProtocol | undefined;
  dataProviders: string[];
  /** Decrypts, verifies, and reads each result. Throws `ResultRejected` if a check fails. */
  read<T>(read: (result: specs.Measurement_Result, signer: string) => T): Promise<T[]>;
}

export async function openMeasurement(
  deps: Dependencies,
  measurement: Measurement,
  request?: ReadRequest,
): Promise<MeasurementResult> {
  const opened = await openResults(deps, measurement, request);
  const { spec, computed, dataProviders } = opened;
  const { name = 'measurement', measurementReferenceId: referenceId } = measurement;
  const about = {
    measurement: name,
    type: TYPES[spec.measurementType],
    ...(referenceId !== undefined && { referenceId }),
  };
  if (computed !== undefined) {
    const [deduplicated] = await opened.read((result) => deduplicatedFigures(spec, result, computed));
    const total = { deduplicated: deduplicated! };
    return { ...about, dataProviders: dataProviders.map((name) => ({ name })), total };
  }
  const figures = await opened.read((result, signer) => ({ name: signer, ...figuresOf(spec, result) }));
  return { ...about, dataProviders: figures, total: totalOf(figures, spec.vidSamplingInterval?.width ?? 1) };
}

/**
 * Verifies a measurement, and checks that it has one result from each expected party. The returned `read` verifies the
 * results themselves. Throws `ResultRejected` if a check fails.
 */
export async function openResults(
  deps: Dependencies,
  measurement: Measurement,
  request?: ReadRequest,
): Promise<OpenedResults> {
  const name = measurement.name ?? 'measurement';
  const reject = (code: ResultFault, message: string, signer?: string, cause?: unknown) =>
    new ResultRejected(name, code, message, signer, cause);
  /** Runs a check of the measurement, or of the result of `signer`. Throws `ResultRejected` if the check fails. */
  const checked = async <T>(check: () => Promise<T>, signer?: string): Promise<T> => {
    try {
      return await check();
    } catch (error) {
      if (!(error instanceof Fault || error instanceof ConsentError)) throw error;
      throw reject(error.code as ResultFault, error.message, signer, error);
    }
  };

  const { results, measurementSpec, dataProviders: asked = {} } = measurement;
  if (results === undefined || measurementSpec === undefined) {
    const why = measurement.deleteTime ? `was removed on ${measurement.deleteTime}` : 'has not succeeded';
    throw reject('RESULT_ABSENT', `it ${why} (${measurement.state}), so there is no result to open`);
  }
  const { spec, resultKeyset, computed } = await checked(() => readOwn(deps, measurement, request));
  const dataProviders = Object.keys(asked);
  const entries = entriesBySigner(results, computed ? [computed.aggregator] : dataProviders, reject);
  const read: OpenedResults['read'] = (from) => {
    const open = async ([signer, entry]: [string, Entry]) =>
      from(await openEntry(deps, resultKeyset, signer, entry), signer);
    return Promise.all(entries.map((entry) => checked(() => open(entry), entry[0])));
  };
  return { spec, computed, dataProviders, read };
}

/**
 * Verifies that this consumer created the measurement. If duchies compute it, also verifies that the consumer accepts
 * the duchies and that the measurement has its own result key.
 */
async function readOwn(
  deps: Dependencies,
  measurement: Measurement,
  request: ReadRequest | undefined,
): Promise<OwnMeasurement & { computed: DuchyProtocol | undefined }> {
  const own = await requireOwn(deps, measurement, request);
  const computed = acceptedProtocol(deps, measurement, own.spec);
  if (computed !== undefined && !own.isBound) {
    throw new OwnershipFault('SPEC_FOREIGN', 'duchies compute it, and it has no separate result key');
  }
  return { ...own, computed };
}

/**
 * Returns the result of each expected signer. The signer of a result is the party that owns its certificate. Throws
 * unless each expected signer has exactly one result, and all results are from expected signers.
 */
function entriesBySigner(
  results: Entry[],
  signers: string[],
  reject: (code: ResultFault, message: string, signer?: string) => ResultRejected,
): [string, Entry][] {
  const found = new Map<string, Entry>();
  for (const entry of results) {
    const signer = partyOf(entry.certificate);
    if (!signers.includes(signer)) {
      throw reject('SIGNER_FOREIGN', `${signer} does not compute the measurement`, signer);
    }
    if (found.has(signer)) throw reject('SIGNER_REPEATED', 'it has another result already', signer);
    found.set(signer, entry);
  }
  return signers.map((signer) => {
    const entry = found.get(signer);
    if (entry === undefined) throw reject('SIGNER_MISSING', 'there is none', signer);
    return [signer, entry];
  });
}

async function openEntry(
  deps: Dependencies,
  resultKeyset: Uint8Array,
  signer: string,
  { certificate, encryptedResult }: Entry,
): Promise<specs.Measurement_Result> {
  const x509 = await trustedCertificate(signer, certificate, certificatesOf(deps));
  const signed = unpackSignedMessage(await decrypt(resultKeyset, encryptedResult.ciphertext));
  await verifySignature(signed, x509);
  try {
    return parseResult(signed.message);
  } catch (error) {
    throw new FiguresFault('RESULT_MALFORMED', `it is not a Measurement.Result: ${(error as Error).message}`);
  }
}
