/** Verifies bearer ID tokens and returns their claims. */
import { fromBase64 } from '@measurement-exchange/contract';
import { compactVerify, errors } from 'jose';
import { LRUCache } from 'lru-cache';
import {
  checkIssuers,
  claimsError,
  DEFAULT_ALGORITHMS,
  expiryOf,
  headerError,
  type IssuerConfig,
  type Json,
} from './claims.ts';
import { type KeySet, type KeySource, keysFromFile, keysFromUrl } from './keys.ts';
import {
  AcceptedCredentials,
  CACHE_CAPACITY,
  type Permit,
  unacceptable,
  type Verified,
  type Verifier,
} from './verified.ts';

export type { IssuerConfig } from './claims.ts';

export type TokenVerifier = Verifier<string>;

const MAX_TOKEN_LENGTH = 8 * 1024;
const CACHE_MS = 60_000;
/**
 * Matches a signed token, which has three nonempty parts. Excludes unsigned tokens, JWE (five parts), and the JSON
 * serialization.
 */
const COMPACT = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/;

export function createTokenVerifier(options: {
  issuers: IssuerConfig[];
  /** Returns the current time in epoch milliseconds. */
  clock?: () => number;
  fetch?: typeof fetch;
}): TokenVerifier {
  const { issuers, clock = Date.now, fetch: fetchUrl = fetch } = options;
  checkIssuers(issuers);
  const trusted = new Map(
    issuers.map((config) => {
      const { jwksUri, jwksFile } = config;
      const keys = jwksUri ? keysFromUrl(jwksUri, clock, fetchUrl) : keysFromFile(jwksFile!, clock);
      return [config.issuer, { config, keys }];
    }),
  );
  // Cache accepted tokens, because a signature check takes 150 to 200 µs and a cache hit takes 3 µs.
  const accepted = new AcceptedCredentials(clock);
  const subjects = new LRUCache<string, true>({ max: CACHE_CAPACITY });

  return {
    recall: (token: string) =>
      token.length > MAX_TOKEN_LENGTH ? undefined : accepted.recall(AcceptedCredentials.keyOf(token)),

    /**
     * Verifies a token. Rejects with TOKEN_INVALID if the token is not acceptable, or with KEYS_UNAVAILABLE if the
     * issuer's keys cannot be loaded.
     */
    async verify(token: string, permit?: Permit): Promise<Verified> {
      if (token.length > MAX_TOKEN_LENGTH) throw unacceptable('longer than 8 KiB');
      const key = AcceptedCredentials.keyOf(token);
      const known = accepted.recall(key);
      if (known !== undefined) return known;

      // First make the checks that need no key, so that a junk token never causes a fetch of keys.
      const { header, claims } = decode(token);
      // Use `iss` only to select the keys, because the signature is not verified yet.
      const issuer = trusted.get(claims.iss as string);
      if (issuer === undefined) throw unacceptable('iss is not a configured issuer');
      const { config, keys } = issuer;
      const why = headerError(header, config) ?? claimsError(claims, config, Math.floor(clock() / 1000));
      if (why !== undefined) throw unacceptable(why);
      const claimedSubject = `${config.issuer} ${claims.sub}`;
      if (!accepted.has(key)) permit?.(subjects.has(claimedSubject) ? claimedSubject : undefined);
      const keySet = await checkSignature(token, keys, config.algorithms ?? DEFAULT_ALGORITHMS).catch(
        (error) => {
          accepted.reject(key);
          throw error;
        },
      );

      const claimed = config.principalClaim && claims[config.principalClaim];
      const verified: Verified = {
        issuer: config.issuer,
        subject: claims.sub as string,
        expiresAt: expiryOf(claims, config),
        ...(typeof claimed === 'string' && { claimedPrincipal: claimed }),
      };
      subjects.set(claimedSubject, true);
      return accepted.accept(key, verified, Math.min(clock() + CACHE_MS, keySet.validUntil));
    },
  };
}

/** Decodes a token's header and claims. Accepts only strict base64url, so that each token has exactly one encoding. */
function decode(token: string): { header: Json; claims: Json } {
  const parts = COMPACT.exec(token)?.slice(1).map(fromBase64);
  if (parts === undefined || parts.includes(undefined)) throw unacceptable('not a compact JWS');
  const [header, claims] = parts.slice(0, 2).map((bytes) => parseObject(bytes!));
  if (header === undefined || claims === undefined) throw unacceptable('a part is not a JSON object');
  return { header, claims };
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function parseObject(bytes: Uint8Array): Json | undefined {
  try {
    const value: unknown = JSON.parse(utf8.decode(bytes));
    return typeof value === 'object' && value !== null ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}

async function checkSignature(token: string, keys: KeySource, algorithms: string[]): Promise<KeySet> {
  const cached = await keys.current();
  const why = await signatureError(token, cached, algorithms);
  if (why === undefined) return cached;
  // Load the keys again, because the issuer may have added or replaced this key since the last load.
  const newer = await keys.newerThan(cached).catch((unavailable) => {
    // A newer key could make a token with an unknown key ID valid, so the caller should retry later.
    throw why === UNKNOWN_KEY ? unavailable : unacceptable(why);
  });
  const whyStill = newer === undefined ? why : await signatureError(token, newer, algorithms);
  if (whyStill !== undefined) throw unacceptable(whyStill);
  return newer!;
}

const UNKNOWN_KEY = errors.JWKSNoMatchingKey.code;

/**
 * Returns why the signature is rejected, or undefined. Only the code of a jose error is returned, because its message
 * may contain claims.
 */
async function signatureError(token: string, keys: KeySet, algorithms: string[]) {
  try {
    await compactVerify(token, keys.find, { algorithms });
    return undefined;
  } catch (error) {
    return error instanceof errors.JOSEError ? error.code : 'the key is not usable';
  }
}
