/** An identity provider on 127.0.0.1 that tests can make misbehave, and a signer that signs any input. */
import { generateKeyPairSync, type KeyObject, sign as signBytes } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JSONWebKeySet, JWK } from 'jose';

export interface SigningKey {
  kid: string;
  alg: 'ES256' | 'RS256' | 'EdDSA';
  privateKey: KeyObject;
  publicJwk: JWK;
}

export function makeKey(kid: string, alg: SigningKey['alg'] = 'ES256'): SigningKey {
  const { publicKey, privateKey } =
    alg === 'ES256'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : alg === 'RS256'
        ? generateKeyPairSync('rsa', { modulusLength: 2048 })
        : generateKeyPairSync('ed25519');
  return { kid, alg, privateKey, publicJwk: { ...(publicKey.export({ format: 'jwk' }) as JWK), kid } };
}

export function encode(value: object | string): string {
  const bytes = Buffer.isBuffer(value) ? value : typeof value === 'string' ? value : JSON.stringify(value);
  return Buffer.from(bytes).toString('base64url');
}

/** Signs any claims as a compact JWS. Claims that are text or bytes are not converted to JSON. */
export function jws(key: SigningKey, claims: object | string, header: object = {}): string {
  const input = `${encode({ alg: key.alg, kid: key.kid, typ: 'JWT', ...header })}.${encode(claims)}`;
  const hash = key.alg === 'EdDSA' ? null : 'sha256';
  const signature = signBytes(hash, Buffer.from(input), { key: key.privateKey, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
}

export interface TestIssuer {
  url: string;
  jwksUri: string;
  /** The published keys. */
  keys: SigningKey[];
  fetches: number;
  /**
   * Writes the response to each request. Tests can replace this function. By default, it is `publish`, which writes the
   * published keys.
   */
  respond: (response: ServerResponse) => void;
  publish: (response: ServerResponse) => void;
  close(): Promise<void>;
}

export async function startTestIssuer(...keys: SigningKey[]): Promise<TestIssuer> {
  const server = createServer((_request, response) => {
    issuer.fetches += 1;
    issuer.respond(response);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const publish = (response: ServerResponse) => {
    const jwks: JSONWebKeySet = { keys: issuer.keys.map((key) => key.publicJwk) };
    response.end(JSON.stringify(jwks));
  };
  const issuer: TestIssuer = {
    url,
    jwksUri: `${url}/jwks`,
    keys,
    fetches: 0,
    respond: publish,
    publish,
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  return issuer;
}
