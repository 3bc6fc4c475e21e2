/**
 * Planted bugs in steps that a duchy must not lose, repeat, or do too early, even if its processes are killed at any
 * time.
 */
import type { PlantedBug } from '../plant.ts';
import { inDuchy, test } from './edits.ts';

const crashes = (title: string) => test('duchy/test/stages/crashes.test.ts', title);
const leases = (title: string) => test('duchy/test/database/leases.test.ts', title);

export const DUCHY_CRASH_BUGS: PlantedBug[] = [
  {
    // With this bug, a repeated stage draws other noise, and its message differs from the message that was stored or
    // sent before.
    name: 'noise-resampled-on-retry',
    edits: [
      inDuchy(
        'protocols/honestMajorityShareShuffle/shuffle.ts',
        'noiseSeed: noiseSeed! }',
        'noiseSeed: crypto.getRandomValues(noiseSeed!.map(() => 0)) }',
      ),
      inDuchy('mills/attempt.ts', '(await storedOutput(duchy, computation, sends)) ??', ''),
      inDuchy(
        'database/messages.ts',
        '(computation, stage, direction, peer) DO NOTHING',
        `(computation, stage, direction, peer)
         DO UPDATE SET signed_message = excluded.signed_message, blob = excluded.blob`,
      ),
    ],
    foundBy: crashes('if mills die'),
  },
  {
    // With this bug, the receiver gets other bytes than the sender has stored, and rejects the message when it is sent
    // again.
    name: 'message-signed-when-sent',
    edits: [
      inDuchy('peers/send.ts', 'const { db, metrics } = duchy;', 'const { db, metrics, signer } = duchy;'),
      inDuchy(
        'peers/send.ts',
        'unpackSignedMessage(signedMessage!);',
        'await signer.sign(unpackSignedMessage(signedMessage!).message);',
      ),
    ],
    foundBy: 'H19',
  },
  {
    // With this bug, a message is computed again if a mill dies after sending it and before storing it. The new bytes
    // differ from those that the receiver has.
    name: 'output-sent-before-stored',
    edits: [
      inDuchy(
        'peers/outbox.ts',
        "await db.tx('storeOutput', (tx) => storeMessage(tx, {",
        `const unstored = { computation: computation.id, stage: sends.message, peer, certificate, signedMessage, blob: blob.id };
        await (await import('./send.ts')).sendOutput(duchy, computation, unstored as StoredMessage, new AbortController().signal);
        await db.tx('storeOutput', (tx) => storeMessage(tx, {`,
      ),
      inDuchy(
        'database/blobs.ts',
        'WHERE id = $1 AND complete_time IS NOT NULL AND removed_time',
        'WHERE id = $1 AND removed_time',
      ),
    ],
    foundBy: crashes('if mills die'),
  },
  {
    name: 'upload-reported-before-durable',
    edits: [
      inDuchy(
        'face/uploads.ts',
        'const blob = await writeBlob(db, computation.id, data);',
        `await reportFulfillment(duchy.client, computation.view.name!, { requisition: requisition.name, nonce: fulfillment.nonce });
        const blob = await writeBlob(db, computation.id, data);`,
      ),
    ],
    foundBy: crashes('even if the HTTP server dies'),
  },
  {
    // With this bug, a mill that was paused for longer than its lease can finish a stage that another mill has taken
    // over.
    name: 'lease-without-token',
    edits: [
      inDuchy(
        'database/leases.ts',
        'tx.query(FINISH, [computation.id, token,',
        `tx.query(FINISH, [computation.id,
          (await tx.query({ name: 'planted', text: 'SELECT lease_token FROM computations WHERE id = $1' }, [computation.id]))[0]!.lease_token,`,
      ),
    ],
    foundBy: leases('the first mill can no longer change it'),
  },
  {
    name: 'lease-without-end',
    edits: [
      inDuchy(
        'database/leases.ts',
        '(lease_until IS NULL OR lease_until <= clock_timestamp())',
        'lease_until IS NULL',
      ),
    ],
    foundBy: leases('a lease expires after leaseMs'),
  },
  {
    name: 'digest-unchecked',
    edits: [inDuchy('face/received.ts', 'if (!equalBytes(hash.digest(), sha256))', 'if (false)')],
    foundBy: test('duchy/test/face/messages.test.ts', 'another digest'),
  },
  {
    name: 'received-before-stored',
    edits: [
      inDuchy(
        'face/messages.ts',
        'if (stored === undefined) return store(duchy, checked, received);',
        'if (stored === undefined) return void store(duchy, checked, received).catch(() => undefined);',
      ),
    ],
    foundBy: test('duchy/test/face/messages.test.ts', 'a message for a computation that has ended'),
  },
];
