/** Does what an exchange's operator does, for tests of parties, principals and roots. */
import { readFile } from 'node:fs/promises';
import { DEV_AUDIENCE, devKeyFile } from '@measurement-exchange/exchange/devIssuer';
import { importJWK, type JWK, SignJWT } from 'jose';
import type { Reply, TestExchange } from './exchange.ts';
import { ok } from './steps.ts';

type Json = Reply['json'];

export function asOperator(
  exchange: TestExchange,
  method: string,
  path: string,
  body?: unknown,
): Promise<Reply> {
  return exchange.call(exchange.dev.operator.token, method, `/v2alpha/${path}`, body);
}

/** Reads all items of a list, page by page. `onPage` is called after each page with the items read so far. */
export async function listAll(
  exchange: TestExchange,
  path: string,
  { pageSize = 7, onPage = (_items: Json[]) => {} } = {},
): Promise<Json[]> {
  const items: Json[] = [];
  let token: string | undefined;
  do {
    const page = `${path.includes('?') ? '&' : '?'}pageSize=${pageSize}${token ? `&pageToken=${token}` : ''}`;
    const { nextPageToken, ...rest } = await ok(asOperator(exchange, 'GET', path + page));
    items.push(...(Object.values(rest)[0] as Json[]));
    token = nextPageToken;
    onPage(items);
  } while (token !== undefined);
  return items;
}

export function issuerOf(exchange: TestExchange): string {
  return `${exchange.url}/dev`;
}

/**
 * Issues a token as the exchange's own issuer does. The token names no party: a principal binding decides which party
 * the token represents.
 */
export async function tokenOf(exchange: TestExchange, subject: string): Promise<string> {
  const jwk: JWK = JSON.parse(await readFile(devKeyFile(exchange.dataDir), 'utf8'));
  return new SignJWT()
    .setProtectedHeader({ alg: 'ES256', typ: 'JWT', kid: jwk.kid! })
    .setIssuer(issuerOf(exchange))
    .setAudience(DEV_AUDIENCE)
    .setSubject(subject)
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(await importJWK(jwk, 'ES256'));
}
