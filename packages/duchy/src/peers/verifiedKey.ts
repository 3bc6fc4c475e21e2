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

export type KeyContext = Pick<Binding, 'duchy' | 'computation' | 'termsSha256'>;

/**
 * Verifies that the participant signed its key with a trusted certificate, and returns the key that `read` decodes.
 * `read` throws ConsentError if the key is bound to another computation or to other terms. In that case, the
 * computation fails.
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
  const key = verifySignature(publicKey, certificate).then(() => read(publicKey.message, context));
  return requireConsent('PEER_KEY_INVALID', { field: member, duchy: peer }, key);
}

/**
 * Returns the keyset that encrypts messages to a participant. In the share shuffle protocol, also returns
 * `seedCommitment`: the participant's commitment to its contribution to the seed that both workers share.
 */
export function verifiedPeerKey(duchy: Duchy, computation: StoredComputation, peer: string) {
  return verifiedKey(duchy, computation, peer, 'publicKey', (message, context) => {
    const { keyset, binding } = unpackBoundPublicKey(message);
    const expected = { purpose: ENCRYPTION_KEY_PURPOSE, ...context };
    const { seedCommitment } = requireBinding('The EncryptionPublicKey', binding, expected);
    return { keyset, seedCommitment };
  });
}
