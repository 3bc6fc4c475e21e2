/** Strings that are not tokens, and headers that do not carry a token. */
import { encode, jws } from '@measurement-exchange/testkit/issuer';
import { type Base, N, type Tokens } from './base.ts';

export function badForms(base: Base): Tokens {
  const { key, claims } = base;
  const good = jws(key, claims);
  const [header, payload, signature] = good.split('.') as [string, string, string];
  const bytes = Buffer.from(signature, 'base64url');
  return {
    'an empty token': '',
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
    'twice, with a space': `${good} ${good}`,
    'in quotes': `"${good}"`,
    'padding at the end': `${good}==`,
    'padding in the middle': `${header}=.${payload}.${signature}`,
    'standard base64': standardBase64(base),
    'a space in the middle': `${header}. ${payload}.${signature}`,
    'a tab at the start': `\t${good}`,
    'percent-encoded': encodeURIComponent(good).replace('.', '%2E'),
    'a signature of zeros': `${header}.${payload}.${Buffer.alloc(64).toString('base64url')}`,
    'a signature of r and 0': `${header}.${payload}.${Buffer.concat([bytes.subarray(0, 32), Buffer.alloc(32)]).toString('base64url')}`,
    'a signature of n and n': `${header}.${payload}.${Buffer.from(N.toString(16).repeat(2), 'hex').toString('base64url')}`,
    'a truncated signature': `${header}.${payload}.${bytes.subarray(0, 63).toString('base64url')}`,
    'a signature too long': `${header}.${payload}.${Buffer.concat([bytes, Buffer.alloc(1)]).toString('base64url')}`,
    'other claims with the same signature': `${header}.${encode({ ...claims, sub: 'operator', mex_principal: 'operator' })}.${signature}`,
    'another header with the same signature': `${encode({ alg: 'ES256', kid: key.kid })}.${payload}.${signature}`,
    'an unused bit of the last character set': spareBits(good),
    '8 KiB of one letter': 'a'.repeat(8_193),
    '8 KiB of dots': '.'.repeat(8_193),
  };
}

export function badSchemes(good: string): Record<string, string> {
  return {
    'no value': '',
    'Bearer alone': 'Bearer',
    'no scheme': good,
    Basic: `Basic ${good}`,
    'Basic with the token as the password': `Basic ${Buffer.from(`token:${good}`).toString('base64')}`,
    DPoP: `DPoP ${good}`,
    Token: `Token ${good}`,
    'two spaces': `Bearer  ${good}`,
    'a tab': `Bearer\t${good}`,
    'a parameter': `Bearer token="${good}"`,
    'two schemes': `Basic a, Bearer ${good}`,
    'a comma at the end': `Bearer ${good},`,
    'an equals sign': `Bearer=${good}`,
    'a colon': `Bearer: ${good}`,
    'a Latin-1 letter': `Bearer ${good}é`,
  };
}

/**
 * A token whose signature is in standard base64. The signature must contain a character that differs in base64url.
 * About one signature in 15 has no such character, so the loop tries again.
 */
function standardBase64({ key, claims }: Base): string {
  for (;;) {
    const token = jws(key, claims);
    const [header, payload, signature] = token.split('.') as [string, string, string];
    const standard = `${header}.${payload}.${Buffer.from(signature, 'base64url').toString('base64').replace(/=+$/, '')}`;
    if (standard !== token) return standard;
  }
}

/**
 * Sets one of the unused bits of the last character. A signature of 64 bytes takes 86 characters, and the last one has
 * four unused bits.
 */
function spareBits(token: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return token.slice(0, -1) + alphabet[alphabet.indexOf(token.at(-1)!) | 1];
}
