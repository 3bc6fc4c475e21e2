/**
 * Duchy keys for test requisitions. The signature of a key also covers a digest of the requisition's terms, so the keys
 * are signed last, when the terms are known.
 */
import { createSigner, termsDigest } from '@measurement-exchange/consent';
import {
  type Binding,
  type DuchyEntry,
  decodeMeasurementSpec,
  type Requisition,
  type SignedMessage,
} from '@measurement-exchange/contract';
import type { Identity } from '../../src/identity/index.ts';

/** The computation ID to which the duchies' keys are bound. */
export const COMPUTATION = 'm1';

export type KeyContext = Pick<Binding, 'duchy' | 'computation' | 'termsSha256'>;
type Sign = (context: KeyContext) => Promise<SignedMessage>;

const later = new WeakMap<SignedMessage, Sign>();

/** Returns a placeholder for a signed key. `withSignedKeys` replaces the placeholder with the signed key. */
export function signedLater(sign: Sign): SignedMessage {
  const placeholder = { message: Uint8Array.of(0), signature: Uint8Array.of(0) };
  later.set(placeholder, sign);
  return placeholder;
}

export function signedBy(
  { privateKeyPem }: Identity,
  message: (context: KeyContext) => Uint8Array,
): SignedMessage {
  return signedLater(async (context) => (await createSigner(privateKeyPem)).sign(message(context)));
}

/**
 * Returns the requisition with a signature on each of its keys. The signatures cover a digest of the requisition's
 * terms.
 */
export async function withSignedKeys(requisition: Requisition): Promise<Requisition> {
  if (requisition.duchies === undefined) return requisition;
  const termsSha256 = await digestOf(requisition);
  const duchies: Record<string, DuchyEntry> = {};
  for (const [duchy, entry] of Object.entries(requisition.duchies)) {
    const context = { duchy, computation: COMPUTATION, termsSha256 };
    duchies[duchy] = (await signedIn(entry, context)) as DuchyEntry;
  }
  return { ...requisition, duchies };
}

async function digestOf({ measurementSpec, protocolConfig }: Requisition): Promise<Uint8Array> {
  const decoded = decodeMeasurementSpec(measurementSpec!.message);
  return termsDigest({
    computation: COMPUTATION,
    measurementSpec: measurementSpec!.message,
    protocolConfig: protocolConfig!,
    nonceHashes: 'spec' in decoded ? decoded.spec.nonceHashes : [],
  });
}

/** Replaces every placeholder in a nested value. */
async function signedIn(value: unknown, context: KeyContext): Promise<unknown> {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  const sign = later.get(value as SignedMessage);
  if (sign !== undefined) return sign(context);
  const members = Object.entries(value).map(async ([key, member]) => [key, await signedIn(member, context)]);
  return Object.fromEntries(await Promise.all(members));
}
