/**
 * Prepares an exchange for tests of consent: adds trusted roots, certificates of every kind for a consumer and a
 * provider, and a second encryption key for another provider.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { anyPack } from '@bufbuild/protobuf/wkt';
import { specs, TYPE_URLS, toBase64 } from '@measurement-exchange/contract';
import {
  createEncryptionKeysets,
  createRoot,
  issueLeaf,
  type Root,
  signEncryptionKey,
} from '@measurement-exchange/sdk/identity';
import {
  type DevParty,
  measurementRequest,
  nonceHash,
  type TestExchange,
} from '@measurement-exchange/testkit/exchange';
import { castOf, ok, post, signed } from '@measurement-exchange/testkit/steps';

const YEAR_MS = 365.25 * 24 * 3600_000;

/**
 * Kinds of certificates that Acme and Streamly have in addition to their first ones. A `stranger` certificate is issued
 * by a root that is not trusted. A `lapsed` certificate is issued by a trusted root that has expired.
 */
const KINDS = ['other', 'revoked', 'held', 'expired', 'early', 'stranger', 'lapsed'] as const;
type Kind = (typeof KINDS)[number];

export interface World {
  exchange: TestExchange;
  acme: DevParty;
  globex: DevParty;
  streamly: DevParty;
  /** Chirper has replaced its first encryption key, which is `formerKey`. */
  chirper: DevParty;
  formerKey: string;
  /** Acme and Streamly with each kind of additional certificate and its key. */
  acmeAs: Record<Kind, DevParty>;
  streamlyAs: Record<Kind, DevParty>;
  /** The development root, which is trusted for all parties. */
  demo: Root;
  /** A root that is not trusted. */
  stranger: Root;
}

export async function createWorld(exchange: TestExchange): Promise<World> {
  const { acme, globex, streamly, chirper } = castOf(exchange);
  const demo: Root = JSON.parse(await readFile(join(exchange.dataDir, 'dev-root.json'), 'utf8'));
  const stranger = await createRoot('Stranger', Date.now());
  const lapsed = await createRoot('Lapsed root', Date.now() - 30 * YEAR_MS);

  const certified = async (party: DevParty) => {
    const variants: Partial<Record<Kind, DevParty>> = {};
    for (const kind of KINDS) {
      const root = { stranger, lapsed }[kind as string] ?? demo;
      const years = { expired: -20, early: 20 }[kind as string] ?? 0;
      const { der, privateKeyPem } = await issueLeaf(root, kind, Date.now() + years * YEAR_MS);
      const { name } = await ok(
        post(exchange, party, `${party.name}/certificates`, { x509Der: toBase64(der) }),
      );
      const state = { revoked: 'REVOKED', held: 'HOLD' }[kind as string];
      if (state) await ok(post(exchange, party, `${name}:revoke`, { revocationState: state }));
      variants[kind] = { ...party, certificate: name, privateKeyPem };
    }
    return variants as Record<Kind, DevParty>;
  };
  const acmeAs = await certified(acme);
  const streamlyAs = await certified(streamly);
  // Add the roots after the certificates. If the exchange already had the roots, strict checks would reject the
  // certificates from other issuers.
  for (const root of [demo, lapsed]) await trust(exchange, root);

  const keyset = (await createEncryptionKeysets()).publicKeyset;
  const { message, signature } = await signEncryptionKey(keyset, chirper.privateKeyPem);
  const publicKey = { message: toBase64(message), signature: toBase64(signature) };
  await ok(exchange.call(chirper.token, 'PATCH', `/v2alpha/${chirper.name}`, { publicKey }));
  return {
    ...{ exchange, acme, globex, streamly, acmeAs, streamlyAs, demo, stranger },
    chirper: { ...chirper, encryptionPublicKey: toBase64(keyset) },
    formerKey: chirper.encryptionPublicKey,
  };
}

/** Makes the exchange trust a root for `party`, or for all parties if `party` is undefined. */
export function trust(exchange: TestExchange, root: Root, party?: string): Promise<unknown> {
  const body = { x509Pem: root.certificatePem, ...(party && { party }) };
  return ok(exchange.call(exchange.dev.operator.token, 'POST', '/v2alpha/trustedRoots', body));
}

export type SpecInit = Exclude<MessageInitShape<typeof specs.MeasurementSpecSchema>, { $typeName: string }>;

/** Signs an impression spec for two providers. The spec is valid except for the given changes. */
export function signedSpec(w: World, changes: SpecInit = {}, by = w.acme) {
  return signed(by, specBytes(w, changes));
}

export function specBytes(w: World, changes: SpecInit = {}): Uint8Array {
  const key = create(specs.EncryptionPublicKeySchema, {
    format: specs.EncryptionPublicKey_Format.TINK_KEYSET,
    data: Buffer.from(w.acme.encryptionPublicKey, 'base64'),
  });
  const good: SpecInit = {
    measurementPublicKey: anyPack(specs.EncryptionPublicKeySchema, key),
    nonceHashes: [hash(1n), hash(2n)],
    vidSamplingInterval: { start: 0, width: 0.5 },
    measurementType: impressions({}),
  };
  return toBinary(specs.MeasurementSpecSchema, create(specs.MeasurementSpecSchema, { ...good, ...changes }));
}

export function impressions({ epsilon = 0.5, delta = 1e-9, maximum = 10 }): SpecInit['measurementType'] {
  return {
    case: 'impression',
    value: { privacyParams: { epsilon, delta }, maximumFrequencyPerUser: maximum },
  };
}

export function hash(nonce: bigint): Buffer {
  return Buffer.from(nonceHash(nonce), 'base64');
}

export type Request = ReturnType<typeof goodRequest>;

/** A request that is valid in every respect. The nonces are 1 at Streamly and 2 at Chirper. */
export function goodRequest(w: World) {
  return { ...measurementRequest(w.acme, [w.streamly, w.chirper]), measurementSpec: signedSpec(w) };
}

/** Wraps a keyset in an EncryptionPublicKey message. The public key field of a request must contain only the keyset. */
export function wholeKey(keyset: string): string {
  const data = Buffer.from(keyset, 'base64');
  return toBase64(
    toBinary(specs.EncryptionPublicKeySchema, create(specs.EncryptionPublicKeySchema, { format: 1, data })),
  );
}

export const WRONG_TYPE = TYPE_URLS.MeasurementSpec as string;
