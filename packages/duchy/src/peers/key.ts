import { unpackEncryptionPublicKey, verifySignature } from '@measurement-exchange/consent';
import { requireConsent, trustedCertificate } from '../certificates.ts';
import type { Duchy } from '../context.ts';
import type { StoredComputation } from '../database/index.ts';
import { NotReady } from '../errors.ts';
import { follow } from '../herald/follow.ts';

/**
 * The keyset that another duchy made for this computation and signed. What is sent is encrypted for it: the address of
 * the duchy comes from the exchange, which must not be able to read what it could send elsewhere.
 */
export async function peerKeyset(
  duchy: Duchy,
  { view: stored }: StoredComputation,
  peer: string,
): Promise<Uint8Array> {
  let participant = stored.participants[peer];
  if (participant?.parameters === undefined) {
    const view = await duchy.client.getComputation({ name: stored.name! });
    await follow(duchy, view);
    participant = view.participants[peer];
  }
  const publicKey = participant?.parameters?.honestMajorityShareShuffle?.publicKey;
  if (publicKey === undefined) throw new NotReady(`${peer} has not published its key yet.`);
  const certificate = await trustedCertificate(duchy, peer, participant!.certificate ?? '');
  const verified = verifySignature(publicKey, certificate);
  return requireConsent(
    `The key of ${peer}`,
    verified.then(() => unpackEncryptionPublicKey(publicKey.message)),
  );
}
