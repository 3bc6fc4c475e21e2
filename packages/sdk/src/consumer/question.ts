/**
 * Stores a measurement's question (its request) with the measurement, encrypted for the consumer. Without this copy,
 * the consumer could not read the question again, because each RequisitionSpec is encrypted for its data provider.
 */
import {
  ConsentError,
  decrypt,
  encrypt,
  packSignedMessage,
  parseCertificate,
  type Signer,
  unpackSignedMessage,
} from '@measurement-exchange/consent';
import {
  MAX_QUESTION_BYTES,
  type Measurement,
  type MeasurementInput,
  type SignedMessage,
  TYPE_URLS,
  toBase64,
} from '@measurement-exchange/contract';
import { Fault } from '../verification/fault.ts';
import { certificatesOf, type Dependencies } from './deps.ts';
import { type QuestionFault, QuestionRejected } from './errors.ts';
import { isSignedByOwn, requireOwn } from './own.ts';
import type { MeasurementRequest, Question, ReadRequest } from './request.ts';

/**
 * The JSON that the consumer signs. The hash ties the question to one measurement, so that the exchange cannot swap two
 * questions.
 */
interface SignedQuestion {
  measurementSpecSha256: string;
  question: Question;
}

/**
 * Signs the question, and encrypts it for the measurement's result key. Returns undefined if the question is too long
 * for the exchange to store. The measurement is then created without a stored question.
 */
export async function sealQuestion(
  question: Question,
  measurementSpec: SignedMessage,
  signer: Signer,
  resultKeyset: Uint8Array,
): Promise<MeasurementInput['encryptedQuestion']> {
  const signed: SignedQuestion = { measurementSpecSha256: await hashOf(measurementSpec), question };
  const message = await signer.sign(new TextEncoder().encode(JSON.stringify(signed)));
  const typeUrl = TYPE_URLS.MeasurementQuestion;
  const ciphertext = await encrypt(resultKeyset, packSignedMessage(message, typeUrl));
  return ciphertext.length > MAX_QUESTION_BYTES ? undefined : { ciphertext, typeUrl };
}

/**
 * Returns the request without its ID. All event group names have the form `dataProviders/x/eventGroups/y`, even if the
 * request has names of the form `measurementConsumers/x/eventGroups/y`.
 */
export function questionOf(
  { requestId: _, ...request }: MeasurementRequest,
  { dataProviders }: ReadRequest,
): Question {
  return { ...request, dataProviders: dataProviders.map(({ name, selection }) => ({ name, ...selection })) };
}

export async function openQuestion(
  deps: Dependencies,
  measurement: Measurement,
): Promise<Question | undefined> {
  if (measurement.encryptedQuestion === undefined) return undefined;
  try {
    return await openSealed(deps, measurement, measurement.encryptedQuestion.ciphertext);
  } catch (error) {
    if (!(error instanceof Fault || error instanceof ConsentError)) throw error;
    const { code, message } = error;
    throw new QuestionRejected(measurement.name ?? 'measurement', code as QuestionFault, message, error);
  }
}

async function openSealed(
  deps: Dependencies,
  measurement: Measurement,
  sealed: Uint8Array,
): Promise<Question> {
  const { resultKeyset } = await requireOwn(deps, measurement);
  const signed = unpackSignedMessage(await decrypt(resultKeyset, sealed));
  if (!(await isSignedByOwn(deps, measurement, signed, formerCertificate(deps)))) {
    throw new Fault<QuestionFault>('QUESTION_FOREIGN', 'it does not have the signature of this consumer');
  }
  const { measurementSpecSha256, question } = parse(signed.message);
  if (measurementSpecSha256 === (await hashOf(measurement.measurementSpec!))) return question;
  throw new Fault<QuestionFault>('QUESTION_OF_ANOTHER', 'it was asked with another measurement');
}

/**
 * Returns a function that verifies the certificate of an earlier key. An expired certificate is verified as of the time
 * it expired.
 */
function formerCertificate(deps: Dependencies) {
  const { trust, now } = certificatesOf(deps);
  return (x509Der: Uint8Array) => {
    const lastMoment = Math.min(now.getTime(), parseCertificate(x509Der).notAfter.getTime());
    return trust.verify(deps.credentials.name, x509Der, new Date(lastMoment));
  };
}

function parse(message: Uint8Array): SignedQuestion {
  try {
    const parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(message)) as SignedQuestion;
    if (Array.isArray(parsed.question.dataProviders)) return parsed;
  } catch {
    // Ignore the parser's error. The code below throws a Fault instead.
  }
  throw new Fault<QuestionFault>('QUESTION_MALFORMED', 'it is signed, but this version cannot read it');
}

async function hashOf({ message }: SignedMessage): Promise<string> {
  return toBase64(new Uint8Array(await crypto.subtle.digest('SHA-256', Uint8Array.from(message))));
}
