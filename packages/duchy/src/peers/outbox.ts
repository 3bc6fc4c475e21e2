/** Stores a stage's output once, so that every attempt sends the same bytes. */
import { create, toBinary } from '@bufbuild/protobuf';
import { packSignedMessage } from '@measurement-exchange/consent';
import { sealed } from '@measurement-exchange/consent/sealing';
import { duchyMessages, STAGE_MESSAGE_PURPOSE } from '@measurement-exchange/contract';
import { EXCHANGE, type StageRow } from '@measurement-exchange/mpc/protocols/stages';
import { requireConsent } from '../computations/certificates.ts';
import type { Duchy } from '../computations/context.ts';
import { duchyAt } from '../computations/places.ts';
import { termsOf } from '../computations/terms.ts';
import {
  type Blob,
  findMessage,
  LeaseLost,
  type StoredComputation,
  type StoredMessage,
  storeMessage,
  writeBlob,
} from '../database/index.ts';
import { peerKey } from './key.ts';
import { messageContext } from './messageContext.ts';

type Sends = NonNullable<StageRow['sends']>;

const STAGE_MESSAGE_URL = `type.googleapis.com/${STAGE_MESSAGE_PURPOSE}`;

export async function storedOutput({ db }: Pick<Duchy, 'db'>, { id, view }: StoredComputation, sends: Sends) {
  return findMessage(db, id, { direction: 'OUT', stage: sends.message, peer: receiverOf(sends, view) });
}

/**
 * Stores a stage's output. Encrypts and signs the output first if the recipient is a duchy. If another mill has already
 * stored an output, returns that output instead.
 */
export async function storeOutput(
  duchy: Duchy,
  computation: StoredComputation,
  sends: Sends,
  output: Uint8Array,
): Promise<StoredMessage> {
  const { db, certificate, name } = duchy;
  const peer = receiverOf(sends, computation.view);
  const about = { computation: computation.id, stage: sends.message, sender: name, recipient: peer };
  const data =
    peer === EXCHANGE
      ? whole(output)
      : sealed((await peerKey(duchy, computation, peer)).keyset, messageContext(about), output);
  const blob = await requireConsent('PEER_KEY_INVALID', { duchy: peer }, writeBlob(db, computation.id, data));
  const signedMessage =
    peer === EXCHANGE
      ? null
      : await signed(duchy, { ...about, termsSha256: await termsOf(computation) }, blob);
  await db.tx('storeOutput', (tx) =>
    storeMessage(tx, {
      computation: computation.id,
      stage: sends.message,
      direction: 'OUT',
      peer,
      certificate,
      signedMessage,
      blob: blob.id,
    }),
  );
  const stored = await storedOutput(duchy, computation, sends);
  if (stored === undefined) throw new LeaseLost(computation.id);
  return stored;
}

async function signed(
  { certificate, signer }: Duchy,
  about: Pick<duchyMessages.StageMessage, 'computation' | 'stage' | 'sender' | 'recipient' | 'termsSha256'>,
  blob: Blob,
): Promise<Uint8Array> {
  const message = create(duchyMessages.StageMessageSchema, {
    purpose: STAGE_MESSAGE_PURPOSE,
    ...about,
    dataSha256: blob.sha256,
    dataLength: BigInt(blob.length),
    certificate,
  });
  const signed = await signer.sign(toBinary(duchyMessages.StageMessageSchema, message));
  return packSignedMessage(signed, STAGE_MESSAGE_URL);
}

function receiverOf({ to }: Sends, view: StoredComputation['view']): string {
  return to === EXCHANGE ? EXCHANGE : duchyAt(to, view);
}

async function* whole(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
