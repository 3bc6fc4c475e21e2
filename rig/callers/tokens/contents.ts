/** Tokens with a valid signature over invalid content: headers, claims, times. */
import { sign } from 'node:crypto';
import { encode, jws } from '@measurement-exchange/testkit/issuer';
import { type Base, but, type Tokens } from './base.ts';

export function badHeaders(base: Base): Tokens {
  const { key, claims, now } = base;
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
    'crit with an unknown extension': jws(key, claims, { crit: ['exp'], exp: now }),
    'crit b64 true': jws(key, claims, { crit: ['b64'], b64: true }),
    'crit b64 false': jws(key, claims, { crit: ['b64'], b64: false }),
    'crit empty': jws(key, claims, { crit: [] }),
    'crit as text': jws(key, claims, { crit: 'b64' }),
    'a header with alg none as its second alg': raw(`{"alg":"ES256","kid":"${key.kid}","alg":"none"}`),
    'a header that is an array': raw('[]'),
    'a header that is a string': raw('"ES256"'),
    'a header that is null': raw('null'),
    'a header that is not JSON': raw('{"alg":"ES256"'),
    'a header with a byte order mark': raw(`\ufeff{"alg":"ES256","kid":"${key.kid}"}`),
    'a deeply nested header': raw(
      `{"alg":"ES256","kid":"${key.kid}","crit":${'['.repeat(500)}${']'.repeat(500)}}`,
    ),
  };
}

export function badClaims(base: Base): Tokens {
  const { key, claims } = base;
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
      ['iss', 'aud', 'sub', 'exp', 'iat'].map((name) => [`no ${name}`, but(base, { [name]: undefined })]),
    ),
    ...Object.fromEntries(
      Object.entries(odd).flatMap(([name, values]) =>
        values.map((value) => [
          `${name} ${JSON.stringify(value).slice(0, 40)}`,
          but(base, { [name]: value }),
        ]),
      ),
    ),
    'the audience in upper case': but(base, { aud: String(claims.aud).toUpperCase() }),
    'claims an array': jws(key, '[]'),
    'claims a string': jws(key, '"sub"'),
    'claims null': jws(key, 'null'),
    'claims that are not JSON': jws(key, '{"iss":'),
    'claims empty': jws(key, '{}'),
    'claims that are not UTF-8': jws(
      key,
      Buffer.from(JSON.stringify({ ...claims, note: 'é' }), 'latin1') as never,
    ),
    'a claim above 8 KiB': but(base, { padding: 'p'.repeat(8_192) }),
  };
}

export function badTimes(base: Base): Tokens {
  const { key, claims, now } = base;
  const noTimes = [`${now + 600}`, null, true, [now + 600], {}, ''];
  const raw = (name: string, value: string) =>
    jws(key, JSON.stringify({ ...claims, [name]: '@' }).replace('"@"', value));
  return {
    'expired 120 s ago': but(base, { iat: now - 600, exp: now - 120 }),
    'expired a year ago': but(base, { iat: now - 31_557_600, exp: now - 31_557_600 + 600 }),
    'nbf 120 s in the future': but(base, { nbf: now + 120 }),
    'iat 120 s in the future': but(base, { iat: now + 120 }),
    'over a day old, not expired': but(base, { iat: now - 86_400 - 120 }),
    'a year old, expires in a hundred years': but(base, {
      iat: now - 31_557_600,
      exp: now + 100 * 31_557_600,
    }),
    'times in milliseconds': but(base, { iat: now * 1000, exp: (now + 600) * 1000 }),
    'exp 0': but(base, { exp: 0 }),
    'exp negative': but(base, { exp: -1 }),
    'iat 0': but(base, { iat: 0 }),
    ...Object.fromEntries(
      ['exp', 'iat', 'nbf'].flatMap((name) =>
        noTimes.map((value) => [`${name} ${JSON.stringify(value)}`, but(base, { [name]: value })]),
      ),
    ),
    'exp 1e999': raw('exp', '1e999'),
    'iat -1e999': raw('iat', '-1e999'),
    'nbf -1e999': raw('nbf', '-1e999'),
  };
}
