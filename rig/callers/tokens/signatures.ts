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
    'alg none with a valid signature': `${unsigned('none', { kid: key.kid })}.${signature}`,
    'HS256 with the PEM': hmac(pem),
    'HS256 with the PEM, trimmed': hmac(pem.toString().trim()),
    'HS256 with the DER': hmac(publicKey.export({ type: 'spki', format: 'der' })),
    'HS256 with the JWK': hmac(JSON.stringify(key.publicJwk)),
    'HS256 with x': hmac(Buffer.from(key.publicJwk.x!, 'base64url')),
    'HS256 with an empty secret': hmac(''),
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
    "a foreign key under the issuer's kid": jws(mallory, claims),
    'a foreign key without a kid': jws(mallory, claims, { kid: undefined }),
    'a foreign key in the jwk header': jws(mallory, claims, { jwk: mallory.publicJwk }),
    'a foreign key in the jwk header without a kid': jws(mallory, claims, {
      jwk: mallory.publicJwk,
      kid: undefined,
    }),
    'a foreign key at a jku': jws(mallory, claims, { jku: 'http://127.0.0.1:1/jwks' }),
    'a foreign key at the jku of the issuer with a fragment': jws(mallory, claims, {
      jku: `${claims.iss}/jwks#@evil`,
    }),
    'a foreign key at an x5u': jws(mallory, claims, { x5u: 'http://127.0.0.1:1/x5u' }),
    'a foreign key in x5c': jws(mallory, claims, { x5c: [Buffer.from('certificate').toString('base64')] }),
    "a foreign key under the issuer's x5t": jws(mallory, claims, { x5t: key.kid, 'x5t#S256': key.kid }),
    'RS256 with a foreign key': jws(rsa, claims),
    'EdDSA with a foreign key': jws(ed, claims),
    'a signature over the header alone': `${jws(key, claims).split('.').slice(0, 2).join('.')}.${sign(
      'sha256',
      Buffer.from(jws(key, claims).split('.')[0]!),
      { key: key.privateKey, dsaEncoding: 'ieee-p1363' },
    ).toString('base64url')}`,
    'the signature in DER': derSigned(key, claims),
    ...Object.fromEntries(
      kids.map((kid) => [
        `the key of the issuer under kid ${JSON.stringify(kid)}`,
        jws(key, claims, { kid }),
      ]),
    ),
    'kid as a number': jws(key, claims, { kid: 1 }),
    'kid as an array': jws(key, claims, { kid: [key.kid] }),
    'kid as an object': jws(key, claims, { kid: { kid: key.kid } }),
  };
}

function derSigned(key: SigningKey, claims: Claims): string {
  const input = `${encode({ alg: key.alg, kid: key.kid, typ: 'JWT' })}.${encode(claims)}`;
  return `${input}.${sign('sha256', Buffer.from(input), { key: key.privateKey, dsaEncoding: 'der' }).toString('base64url')}`;
}
