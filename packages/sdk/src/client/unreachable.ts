/** Creates the error for a call without a response. The message says why there was no response, and what to do. */
import { Unreachable } from './errors.ts';

const TLS_TO_PLAIN_HTTP = /^(EPROTO|ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST))$/;
/**
 * The error codes of a connection that was closed before a response. One cause is a plain HTTP request to a server
 * that expects TLS.
 */
const CLOSED = /^(UND_ERR_SOCKET|ECONNRESET|EPIPE|HPE_\w+)$/;
const UNTRUSTED =
  /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+|CERT_\w+|ERR_TLS_CERT_ALTNAME_INVALID)$/;

/** Creates the error. `cause` is the error that fetch threw. `outcome` is text that is added to the message. */
export function unreachable(baseUrl: string, cause: unknown, outcome = ''): Unreachable {
  return new Unreachable(`${baseUrl} ${sentenceOf(baseUrl, cause)}${outcome}`, { cause });
}

function sentenceOf(baseUrl: string, cause: unknown): string {
  const code = (cause as { cause?: { code?: unknown } }).cause?.code;
  const [scheme, rest] = baseUrl.split(/:(.*)/s) as [string, string];
  if (scheme === 'https' && TLS_TO_PLAIN_HTTP.test(String(code))) {
    return `does not respond with TLS (${code}). If it serves http, use http:${rest}.`;
  }
  if (scheme === 'https' && UNTRUSTED.test(String(code))) {
    return `has a certificate that is not trusted here (${code}). Check the address, or name the certificate of its authority in NODE_EXTRA_CA_CERTS.`;
  }
  const run = 'Does the exchange run there?';
  if (scheme === 'http' && CLOSED.test(String(code))) {
    return `does not respond (${reasonOf(cause)}). ${run} If it serves https, use https:${rest}.`;
  }
  return `does not respond (${reasonOf(cause)}). ${run}`;
}

/**
 * Returns the reason that fetch failed. The reason is in the error's cause, because the error's own message is just
 * `fetch failed`.
 */
export function reasonOf(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: { message?: string; code?: string } };
  return cause?.message || cause?.code || message || String(error);
}
