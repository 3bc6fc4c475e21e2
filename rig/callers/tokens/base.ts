/** The parts that the tokens of the corpus are built from. */
import { jws, type SigningKey } from '@measurement-exchange/testkit/issuer';

export type Tokens = Record<string, string>;
export type Claims = Record<string, unknown>;

export interface Issuer {
  key: SigningKey;
  issuer: string;
  audience: string;
  subject: string;
}

/** Claims that are valid now. `canary` is in a claim that the exchange does not read. */
export function goodClaims({ issuer, audience, subject }: Issuer, now: number, canary = 'canary'): Claims {
  const whose = { iss: issuer, aud: audience, sub: subject, mex_principal: subject };
  return { ...whose, iat: now, exp: now + 600, canary };
}

export interface Base {
  key: SigningKey;
  /** An attacker's key with the same kid as the issuer's key. */
  mallory: SigningKey;
  /** Valid claims. */
  claims: Claims;
  now: number;
}

/** The order of the curve P-256. */
export const N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** Returns a token in which `changes` replaces some of the valid claims. Its signature is valid. */
export function but({ key, claims }: Base, changes: object): string {
  return jws(key, { ...claims, ...changes });
}
