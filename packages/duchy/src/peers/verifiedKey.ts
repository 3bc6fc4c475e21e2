import { verifySignature } from '@measurement-exchange/consent';
import type { Participant, SignedMessage } from '@measurement-exchange/contract';
import { requireConsent, trustedCertificate } from '../certificates.ts';
import type { Duchy } from '../context.ts';
import type { StoredComputation } from '../database/index.ts';
import { NotReady } from '../errors.ts';

/** One of the keys that a participant made for a computation, which a certificate that is trusted for it signed. */
export async function verifiedKey(
  duchy: Duchy,
  { protocol, view }: Pick<StoredComputation, 'protocol' | 'view'>,
  peer: string,
  member: 'publicKey' | 'elGamalPublicKey',
  unpack: (message: Uint8Array) => Uint8Array,
): Promise<Uint8Array> {
  const participant: Participant | undefined = view.participants[peer];
  const keys: Partial<Record<typeof member, SignedMessage | undefined>> | undefined =
    participant?.parameters?.[protocol];
  const publicKey = keys?.[member];
  if (publicKey === undefined) throw new NotReady('WAITS_FOR_KEY', { duchy: peer });
  const certificate = await trustedCertificate(duchy, peer, participant!.certificate ?? '');
  const verified = verifySignature(publicKey, certificate);
  return requireConsent(
    'PEER_KEY_INVALID',
    { field: member, duchy: peer },
    verified.then(() => unpack(publicKey.message)),
  );
}
