/** Tokens that are good, and tokens that are bad in one way each. */
import { createHmac, createPublicKey, type JsonWebKey, sign } from 'node:crypto';
import { encode, jws, makeKey, type SigningKey } from '../../packages/exchange/src/auth/testIssuer.ts';

export interface CorpusEntry {
  title: string;
  /** The whole Authorization header. */
  authorization: string;
  good: boolean;
}

export interface Issuer {
  key: SigningKey;
  issuer: string;
  audience: string;
  subject: string;
}

type Tokens = Record<string, string>;
type Claims = Record<string, unknown>;

/** The order of the curve P-256. */
const N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** Made afresh for each use: what is a minute old now is not later. `canary` stands in claims nobody reads. */
export function tokenCorpus(issuer: Issuer, canary = 'canary'): CorpusEntry[] {
  const now = Math.floor(Date.now() / 1000);
  const claims: Claims = {
    iss: issuer.issuer,
    aud: issuer.audience,
    sub: issuer.subject,
    mex_principal: issuer.subject,
    iat: now,
    exp: now + 600,
    canary,
  };
  const make = new Maker(issuer, claims, now);
  const bearer = (tokens: Tokens, good: boolean): CorpusEntry[] =>
    Object.entries(tokens).map(([title, token]) => ({ title, authorization: `Bearer ${token}`, good }));
  return [
    ...bearer(make.good(), true),
    { title: 'bearer in lower case', authorization: `bearer ${jws(issuer.key, claims)}`, good: true },
    ...bearer(make.badAlgorithms(), false),
    ...bearer(make.badKeys(), false),
    ...bearer(make.badHeaders(), false),
    ...bearer(make.badClaims(), false),
    ...bearer(make.badTimes(), false),
    ...bearer(make.badForms(), false),
    ...badSchemes(jws(issuer.key, claims)),
  ];
}

class Maker {
  private readonly key: SigningKey;
  private readonly claims: Claims;
  private readonly now: number;
  private readonly mallory: SigningKey;

  constructor({ key }: Issuer, claims: Claims, now: number) {
    this.key = key;
    this.claims = claims;
    this.now = now;
    this.mallory = makeKey(key.kid);
  }

  good(): Tokens {
    const { key, claims, now } = this;
    return {
      'as it should be': jws(key, claims),
      'no kid, where one key fits': jws(key, claims, { kid: undefined }),
      'no typ': jws(key, claims, { typ: undefined }),
      'typ in lower case': jws(key, claims, { typ: 'jwt' }),
      'typ as a media type': jws(key, claims, { typ: 'application/jwt' }),
      'aud as an array of ours': this.but({ aud: [claims.aud] }),
      'azp is us': this.but({ azp: claims.aud }),
      'azp is its subject': this.but({ azp: claims.sub }),
      'expired 50 s ago': this.but({ iat: now - 600, exp: now - 50 }),
      'valid from 50 s ahead': this.but({ nbf: now + 50 }),
      'issued 50 s ahead': this.but({ iat: now + 50 }),
      'nearly a day old': this.but({ iat: now - 86_000 }),
      'exp in a hundred years': this.but({ exp: now + 100 * 31_557_600 }),
      'times with fractions': this.but({ iat: now - 0.5, exp: now + 600.5 }),
      'keys in the header, which are not looked at': jws(key, claims, {
        jku: 'http://127.0.0.1:1/jwks',
        x5u: 'http://127.0.0.1:1/x5u',
        x5c: ['AA=='],
        x5t: 'AA',
        jwk: this.mallory.publicJwk,
      }),
      'claims that nobody knows': this.but({ scope: 'operator', groups: ['operator'], nonce: 'n', cnf: {} }),
      'unicode in a claim': this.but({ name: 'Zoë 🦊 \u202e' }),
      // Anyone can turn s into n − s; the signer said the same all along.
      'the other s of the same signature': otherS(jws(key, claims)),
    };
  }

  badAlgorithms(): Tokens {
    const { key, claims } = this;
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

  badKeys(): Tokens {
    const { key, claims, mallory } = this;
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

  badHeaders(): Tokens {
    const { key, claims } = this;
    const raw = (header: string) => {
      const input = `${encode(header)}.${encode(claims)}`;
      const signature = sign('sha256', Buffer.from(input), {
        key: key.privateKey,
        dsaEncoding: 'ieee-p1363',
      });
      return `${input}.${signature.toString('base64url')}`;
    };
    const types = [
      'at+jwt',
      'AT+JWT',
      'application/at+jwt',
      'logout+jwt',
      'dpop+jwt',
      'JWE',
      'JWT ',
      '',
      'text/html',
    ];
    return {
      ...Object.fromEntries(types.map((typ) => [`typ ${JSON.stringify(typ)}`, jws(key, claims, { typ })])),
      'typ null': jws(key, claims, { typ: null }),
      'typ an array': jws(key, claims, { typ: ['JWT'] }),
      'crit of an unknown': jws(key, claims, { crit: ['exp'], exp: this.now }),
      'crit b64 true': jws(key, claims, { crit: ['b64'], b64: true }),
      'crit b64 false': jws(key, claims, { crit: ['b64'], b64: false }),
      'crit empty': jws(key, claims, { crit: [] }),
      'crit as text': jws(key, claims, { crit: 'b64' }),
      'a header that ends in none': raw(`{"alg":"ES256","kid":"${key.kid}","alg":"none"}`),
      'a header that is an array': raw('[]'),
      'a header that is a string': raw('"ES256"'),
      'a header that is null': raw('null'),
      'a header that is no JSON': raw('{"alg":"ES256"'),
      'a header with a byte order mark': raw(`\ufeff{"alg":"ES256","kid":"${key.kid}"}`),
      'a header deep as a well': raw(
        `{"alg":"ES256","kid":"${key.kid}","crit":${'['.repeat(500)}${']'.repeat(500)}}`,
      ),
    };
  }

  badClaims(): Tokens {
    const { key, claims } = this;
    const odd = {
      iss: [
        'https://issuer.example',
        `${claims.iss}/`,
        `${claims.iss}#`,
        [claims.iss],
        'constructor',
        '',
        null,
        7,
      ],
      aud: ['another', `${claims.aud}/`, [claims.aud, 'another'], [], [[claims.aud]], {}, '', null, 7],
      sub: ['', null, 7, [claims.sub], {}, 's'.repeat(256)],
      azp: ['another', null, 7, [claims.aud]],
    };
    return {
      ...Object.fromEntries(
        ['iss', 'aud', 'sub', 'exp', 'iat'].map((name) => [`no ${name}`, this.but({ [name]: undefined })]),
      ),
      ...Object.fromEntries(
        Object.entries(odd).flatMap(([name, values]) =>
          values.map((value) => [
            `${name} ${JSON.stringify(value).slice(0, 40)}`,
            this.but({ [name]: value }),
          ]),
        ),
      ),
      'our audience in capitals': this.but({ aud: String(claims.aud).toUpperCase() }),
      'claims an array': jws(key, '[]'),
      'claims a string': jws(key, '"sub"'),
      'claims null': jws(key, 'null'),
      'claims no JSON': jws(key, '{"iss":'),
      'claims empty': jws(key, '{}'),
      'claims not UTF-8': jws(key, Buffer.from(JSON.stringify({ ...claims, note: 'é' }), 'latin1') as never),
      'a claim above 8 KiB': this.but({ padding: 'p'.repeat(8_192) }),
    };
  }

  badTimes(): Tokens {
    const { now } = this;
    const noTimes = [`${now + 600}`, null, true, [now + 600], {}, ''];
    const raw = (name: string, value: string) =>
      jws(this.key, JSON.stringify({ ...this.claims, [name]: '@' }).replace('"@"', value));
    return {
      'expired 120 s ago': this.but({ iat: now - 600, exp: now - 120 }),
      'expired a year ago': this.but({ iat: now - 31_557_600, exp: now - 31_557_600 + 600 }),
      'valid from 120 s ahead': this.but({ nbf: now + 120 }),
      'issued 120 s ahead': this.but({ iat: now + 120 }),
      'over a day old, not expired': this.but({ iat: now - 86_400 - 120 }),
      'a year old, expires in a hundred years': this.but({
        iat: now - 31_557_600,
        exp: now + 100 * 31_557_600,
      }),
      'times in milliseconds': this.but({ iat: now * 1000, exp: (now + 600) * 1000 }),
      'exp 0': this.but({ exp: 0 }),
      'exp negative': this.but({ exp: -1 }),
      'iat 0': this.but({ iat: 0 }),
      ...Object.fromEntries(
        ['exp', 'iat', 'nbf'].flatMap((name) =>
          noTimes.map((value) => [`${name} ${JSON.stringify(value)}`, this.but({ [name]: value })]),
        ),
      ),
      'exp beyond every number': raw('exp', '1e999'),
      'iat beyond every number': raw('iat', '-1e999'),
      'nbf beyond every number': raw('nbf', '-1e999'),
    };
  }

  badForms(): Tokens {
    const good = jws(this.key, this.claims);
    const [header, payload, signature] = good.split('.') as [string, string, string];
    const bytes = Buffer.from(signature, 'base64url');
    return {
      nothing: '',
      'three dots': '...',
      'two dots': '..',
      'one part': header,
      'two parts': `${header}.${payload}`,
      'an empty signature': `${header}.${payload}.`,
      'an empty payload': `${header}..${signature}`,
      'an empty header': `.${payload}.${signature}`,
      'four parts': `${good}.${signature}`,
      'five parts': `${good}..`,
      JWE: `${encode({ alg: 'RSA-OAEP', enc: 'A256GCM' })}.AA.AA.AA.AA`,
      'JWE, direct': `${encode({ alg: 'dir', enc: 'A256GCM' })}..AAAAAAAAAAAAAAAA.AA.AAAAAAAAAAAAAAAAAAAAAA`,
      'the JSON serialization': JSON.stringify({ protected: header, payload, signature }),
      'twice, with a comma': `${good},${good}`,
      'twice, with a blank': `${good} ${good}`,
      'in quotes': `"${good}"`,
      'padding at the end': `${good}==`,
      'padding in the middle': `${header}=.${payload}.${signature}`,
      'standard base64': `${header}.${payload}.${bytes.toString('base64')}`,
      'a blank in the middle': `${header}. ${payload}.${signature}`,
      'a tab at the start': `\t${good}`,
      'percent-encoded': encodeURIComponent(good).replace('.', '%2E'),
      'a signature of zeros': `${header}.${payload}.${Buffer.alloc(64).toString('base64url')}`,
      'a signature of r and 0': `${header}.${payload}.${Buffer.concat([bytes.subarray(0, 32), Buffer.alloc(32)]).toString('base64url')}`,
      'a signature of n and n': `${header}.${payload}.${Buffer.from(N.toString(16).repeat(2), 'hex').toString('base64url')}`,
      'a signature cut short': `${header}.${payload}.${bytes.subarray(0, 63).toString('base64url')}`,
      'a signature too long': `${header}.${payload}.${Buffer.concat([bytes, Buffer.alloc(1)]).toString('base64url')}`,
      "another's claims under this signature": `${header}.${encode({ ...this.claims, sub: 'operator', mex_principal: 'operator' })}.${signature}`,
      "another's header under this signature": `${encode({ alg: 'ES256', kid: this.key.kid })}.${payload}.${signature}`,
      'bits of the last character that mean nothing': spareBits(good),
      '8 KiB of one letter': 'a'.repeat(8_193),
      '8 KiB of dots': '.'.repeat(8_193),
    };
  }

  private but(changes: object): string {
    return jws(this.key, { ...this.claims, ...changes });
  }
}

function badSchemes(good: string): CorpusEntry[] {
  const headers = {
    'no value': '',
    'Bearer alone': 'Bearer',
    'no scheme': good,
    Basic: `Basic ${good}`,
    'Basic with the token as the password': `Basic ${Buffer.from(`token:${good}`).toString('base64')}`,
    DPoP: `DPoP ${good}`,
    Token: `Token ${good}`,
    'two blanks': `Bearer  ${good}`,
    'a tab': `Bearer\t${good}`,
    'a parameter': `Bearer token="${good}"`,
    'two schemes': `Basic a, Bearer ${good}`,
    'a comma after': `Bearer ${good},`,
    'an equals sign': `Bearer=${good}`,
    'a colon': `Bearer: ${good}`,
    'latin letters': `Bearer ${good}é`,
  };
  return Object.entries(headers).map(([title, authorization]) => ({ title, authorization, good: false }));
}

function otherS(token: string): string {
  const [header, payload, signature] = token.split('.');
  const bytes = Buffer.from(signature!, 'base64url');
  const s = N - BigInt(`0x${bytes.subarray(32).toString('hex')}`);
  bytes.write(s.toString(16).padStart(64, '0'), 32, 'hex');
  return `${header}.${payload}.${bytes.toString('base64url')}`;
}

function derSigned(key: SigningKey, claims: Claims): string {
  const input = `${encode({ alg: key.alg, kid: key.kid, typ: 'JWT' })}.${encode(claims)}`;
  return `${input}.${sign('sha256', Buffer.from(input), { key: key.privateKey, dsaEncoding: 'der' }).toString('base64url')}`;
}

/** 64 bytes take 86 characters, of which the last carries two bits: the other four are not part of the signature. */
function spareBits(token: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return token.slice(0, -1) + alphabet[alphabet.indexOf(token.at(-1)!) | 1];
}
