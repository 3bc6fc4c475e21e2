/** The parts that every token of the corpus is built from. */
import { jws, type SigningKey } from '@measurement-exchange/testkit/issuer';

export type Tokens = Record<string, string>;
export type Claims = Record<string, unknown>;

export interface Issuer {
  key: SigningKey;
  issuer: string;
  audience: string;
  subject: string;
}

/** Good now. `canary` stands in a claim that nobody reads. */
export function goodClaims({ issuer, audience, subject }: Issuer, now: number, canary = 'canary'): Claims {
  const whose = { iss: issuer, aud: audience, sub: subject, mex_principal: subject };
  return { ...whose, iat: now, exp: now + 600, canary };
}

export interface Base {
  key: SigningKey;
  /** Somebody else's, under our kid. */
  mallory: SigningKey;
  /** Good ones. */
  claims: Claims;
  now: number;
}

/** The order of the curve P-256. */
export const N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** A good token, but for these claims. */
export function but({ key, claims }: Base, changes: object): string {
  return jws(key, { ...claims, ...changes });
}
