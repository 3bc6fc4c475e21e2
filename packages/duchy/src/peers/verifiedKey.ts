import {
  ENCRYPTION_KEY_PURPOSE,
  requireBinding,
  unpackBoundPublicKey,
  verifySignature,
} from '@measurement-exchange/consent';
import type { Binding, Participant, SignedMessage } from '@measurement-exchange/contract';
import { requireConsent, trustedCertificate } from '../computations/certificates.ts';
import type { Duchy } from '../computations/context.ts';
import { NotReady } from '../computations/errors.ts';
import { termsOf } from '../computations/terms.ts';
import type { StoredComputation } from '../database/index.ts';

/** The duchy, computation and terms that a key must be made for. */
export type KeyContext = Pick<Binding, 'duchy' | 'computation' | 'termsSha256'>;

/**
 * Verifies one of the keys that a participant made for a computation: a certificate that is trusted for it signed the key.
 * `read` throws ConsentError where the key was made for another computation or under other terms; that ends the computation.
 */
export async function verifiedKey<T>(
  duchy: Duchy,
  computation: StoredComputation,
  peer: string,
  member: 'publicKey' | 'elGamalPublicKey',
  read: (message: Uint8Array, context: KeyContext) => T,
): Promise<T> {
  const { id, protocol, view } = computation;
  const participant: Participant | undefined = view.participants[peer];
  const keys: Partial<Record<typeof member, SignedMessage | undefined>> | undefined =
    participant?.parameters?.[protocol];
  const publicKey = keys?.[member];
  if (publicKey === undefined) throw new NotReady('WAITS_FOR_KEY', { duchy: peer });
  const certificate = await trustedCertificate(duchy, peer, participant!.certificate ?? '');
  const context = { duchy: peer, computation: id, termsSha256: await termsOf(computation) };
  const verified = verifySignature(publicKey, certificate);
  return requireConsent(
    'PEER_KEY_INVALID',
    { field: member, duchy: peer },
    verified.then(() => read(publicKey.message, context)),
  );
}

/** The key under which messages for a participant are encrypted. */
export interface PeerKey {
  keyset: Uint8Array;
  /** In share-shuffle, a hash of the worker's half of the common seed. */
  seedCommitment: Uint8Array;
}

export function verifiedPeerKey(
  duchy: Duchy,
  computation: StoredComputation,
  peer: string,
): Promise<PeerKey> {
  return verifiedKey(duchy, computation, peer, 'publicKey', (message, context) => {
    const { keyset, binding } = unpackBoundPublicKey(message);
    const expected = { purpose: ENCRYPTION_KEY_PURPOSE, ...context };
    const { seedCommitment } = requireBinding('The EncryptionPublicKey', binding, expected);
    return { keyset, seedCommitment };
  });
}
