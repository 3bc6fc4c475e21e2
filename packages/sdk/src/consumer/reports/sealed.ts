/**
 * Seals a report's definition and answer, so that only this consumer can read and write them. Both are encrypted for
 * the consumer's own key. Anybody could encrypt for that key, so the content has an HMAC that only the consumer can
 * compute.
 */
import { ConsentError, decrypt, encrypt, publicKeysetOf } from '@measurement-exchange/consent';
import { equalBytes, fromHex, TYPE_URLS } from '@measurement-exchange/contract';
import { Fault } from '../../verification/fault.ts';
import { type Dependencies, privateKeysets } from '../deps.ts';
import { hex, type ReportKeys } from './keys.ts';

export type SealedKind = 'ReportDefinition' | 'ReportAnswer';

export interface Sealed {
  ciphertext: Uint8Array;
  typeUrl: string;
}

/** The reason that a stored report was rejected. */
export type ReportFault =
  /** No private key of this consumer decrypts the report. */
  | 'REPORT_UNREADABLE'
  /** This consumer did not seal the content, or sealed it for another report. */
  | 'REPORT_FOREIGN'
  /** The definition is invalid, or has a format that this version cannot read. */
  | 'REPORT_MALFORMED';

/** Thrown if a stored report fails verification. The report is then not returned. */
export class ReportRejected extends Fault<ReportFault> {
  override readonly name = 'ReportRejected';
  readonly report: string;

  constructor(report: string, code: ReportFault, message: string, cause?: unknown) {
    super(code, `${report}: ${message}`, { cause });
    this.report = report;
  }
}

/**
 * Seals the content for one report. The HMAC covers the name of the report, so the exchange cannot move the content to
 * another report.
 */
export async function seal(
  { credentials }: Dependencies,
  keys: ReportKeys,
  [kind, report]: [SealedKind, string],
  content: unknown,
): Promise<Sealed> {
  const text = JSON.stringify(content);
  const tag = hex(await keys.of('sealed', kind, report, text));
  const bytes = new TextEncoder().encode(JSON.stringify({ tag, text }));
  const ciphertext = await encrypt(publicKeysetOf(credentials.encryptionPrivateKey), bytes);
  return { ciphertext, typeUrl: TYPE_URLS[kind] };
}

export async function unseal(
  deps: Dependencies,
  keys: ReportKeys,
  [kind, report]: [SealedKind, string],
  { ciphertext }: Sealed,
): Promise<unknown> {
  const { tag, text } = parse(report, await decryptWithAny(deps, report, ciphertext));
  const given = fromHex(tag) ?? new Uint8Array();
  const valid = await keys.underAll('sealed', kind, report, text);
  if (valid.some((own) => equalBytes(own, given))) return JSON.parse(text);
  throw new ReportRejected(report, 'REPORT_FOREIGN', `this consumer did not seal its ${WORDS[kind]}`);
}

const WORDS: Record<SealedKind, string> = { ReportDefinition: 'definition', ReportAnswer: 'answer' };

async function decryptWithAny(deps: Dependencies, report: string, sealed: Uint8Array): Promise<Uint8Array> {
  let failure: unknown;
  for (const keyset of privateKeysets(deps)) {
    try {
      return await decrypt(keyset, sealed);
    } catch (error) {
      if (!(error instanceof ConsentError)) throw error;
      failure = error;
    }
  }
  const message = 'no private key of this consumer opens it: a former one may be missing';
  throw new ReportRejected(report, 'REPORT_UNREADABLE', message, failure);
}

function parse(report: string, bytes: Uint8Array): { tag: string; text: string } {
  try {
    const { tag, text } = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (typeof tag === 'string' && typeof text === 'string') return { tag, text };
  } catch {
    // Ignore the parser's error. The code below throws a ReportRejected instead.
  }
  throw new ReportRejected(
    report,
    'REPORT_FOREIGN',
    'it does not have the form in which this consumer seals',
  );
}
