/** Tokens that are signed with a key or an algorithm that is not the issuer's. */
import { createHmac, createPublicKey, type JsonWebKey, sign } from 'node:crypto';
import { encode, jws, makeKey, type SigningKey } from '@measurement-exchange/testkit/issuer';
import type { Base, Claims, Tokens } from './base.ts';

export function badAlgorithms(base: Base): Tokens {
  const { key, claims } = base;
  const publicKey = createPublicKey({ key: key.publicJwk as JsonWebKey, format: 'jwk' });
  const pem = publicKey.export({ type: 'spki', format: 'pem' });
  const unsigned = (alg: unknown, header: object = {}) =>
    `${encode({ alg, typ: 'JWT', ...header })}.${encode(claims)}`;
  const hmac = (secret: string | Buffer, alg = 'HS256', hash = 'sha256') => {
    const input = unsigned(alg, { kid: key.kid });
    return `${input}.${createHmac(hash, secret).update(input).digest('base64url')}`;
  };
  const [, , signature] = jws(key, claims).split('.');
  return {
    ...Object.fromEntries(
      ['none', 'None', 'NONE', 'nOnE', ' none', 'none\u0000'].flatMap((alg) => [
        [`alg ${JSON.stringify(alg)}, unsigned`, `${unsigned(alg)}.`],
        [`alg ${JSON.stringify(alg)}, signed`, jws(key, claims, { alg })],
      ]),
    ),
    'alg none and our signature': `${unsigned('none', { kid: key.kid })}.${signature}`,
    'HS256 with the PEM': hmac(pem),
    'HS256 with the PEM, trimmed': hmac(pem.toString().trim()),
    'HS256 with the DER': hmac(publicKey.export({ type: 'spki', format: 'der' })),
    'HS256 with the JWK': hmac(JSON.stringify(key.publicJwk)),
    'HS256 with x': hmac(Buffer.from(key.publicJwk.x!, 'base64url')),
    'HS256 with nothing': hmac(''),
    'HS256 with the kid': hmac(key.kid),
    'HS384 with the PEM': hmac(pem, 'HS384', 'sha384'),
    'HS512 with the PEM': hmac(pem, 'HS512', 'sha512'),
    'ES256 over an HMAC': hmac(pem, 'ES256'),
    ...Object.fromEntries(
      ['ES384', 'ES512', 'ES256K', 'RS256', 'PS256', 'EdDSA', 'Ed25519', 'es256', 'ES256 ', '', 'dir'].map(
        (alg) => [`alg ${JSON.stringify(alg)} over ES256`, jws(key, claims, { alg })],
      ),
    ),
    'no alg': jws(key, claims, { alg: undefined }),
    'alg null': jws(key, claims, { alg: null }),
    'alg 0': jws(key, claims, { alg: 0 }),
    'alg an array': jws(key, claims, { alg: ['ES256'] }),
    'alg an object': jws(key, claims, { alg: { toString: 'ES256' } }),
  };
}

export function badKeys(base: Base): Tokens {
  const { key, claims, mallory } = base;
  const rsa = makeKey(key.kid, 'RS256');
  const ed = makeKey(key.kid, 'EdDSA');
  const kids = [
    'unknown',
    '../../etc/passwd',
    '/dev/null',
    "' OR '1'='1",
    '__proto__',
    'constructor',
    '',
    '0',
  ];
  return {
    "another's key under our kid": jws(mallory, claims),
    "another's key without a kid": jws(mallory, claims, { kid: undefined }),
    "another's key, which it brings": jws(mallory, claims, { jwk: mallory.publicJwk }),
    "another's key, brought without a kid": jws(mallory, claims, {
      jwk: mallory.publicJwk,
      kid: undefined,
    }),
    'a key behind jku': jws(mallory, claims, { jku: 'http://127.0.0.1:1/jwks' }),
    'a key behind the jku of the issuer, with a fragment': jws(mallory, claims, {
      jku: `${claims.iss}/jwks#@evil`,
    }),
    'a key behind x5u': jws(mallory, claims, { x5u: 'http://127.0.0.1:1/x5u' }),
    'a key in x5c': jws(mallory, claims, { x5c: [Buffer.from('certificate').toString('base64')] }),
    'x5t of ours': jws(mallory, claims, { x5t: key.kid, 'x5t#S256': key.kid }),
    "RS256 of another's key": jws(rsa, claims),
    "EdDSA of another's key": jws(ed, claims),
    'the header signed instead of the whole': `${jws(key, claims).split('.').slice(0, 2).join('.')}.${sign(
      'sha256',
      Buffer.from(jws(key, claims).split('.')[0]!),
      { key: key.privateKey, dsaEncoding: 'ieee-p1363' },
    ).toString('base64url')}`,
    'the signature in DER': derSigned(key, claims),
    ...Object.fromEntries(
      kids.map((kid) => [`our key under kid ${JSON.stringify(kid)}`, jws(key, claims, { kid })]),
    ),
    'kid a number': jws(key, claims, { kid: 1 }),
    'kid an array': jws(key, claims, { kid: [key.kid] }),
    'kid an object': jws(key, claims, { kid: { kid: key.kid } }),
  };
}

function derSigned(key: SigningKey, claims: Claims): string {
  const input = `${encode({ alg: key.alg, kid: key.kid, typ: 'JWT' })}.${encode(claims)}`;
  return `${input}.${sign('sha256', Buffer.from(input), { key: key.privateKey, dsaEncoding: 'der' }).toString('base64url')}`;
}
