/**
 * Receives messages from other duchies. Checks each message, stores it once, and starts the next stage when all of its
 * input has arrived.
 */
import type { IncomingMessage } from 'node:http';
import { fromBinary } from '@bufbuild/protobuf';
import { packSignedMessage, unpackSignedMessage } from '@measurement-exchange/consent';
import {
  decode,
  duchyMessages,
  ExchangeError,
  equalBytes,
  invalid,
  type JsonValue,
  type SignedMessage,
  STAGE_MESSAGE_PURPOSE,
  StageMessagePart,
  type Violation,
} from '@measurement-exchange/contract';
import type { Duchy } from '../computations/context.ts';
import { endWaitIfReady, rowOf, sendersOf } from '../computations/progress.ts';
import { mismatch } from '../computations/rejections.ts';
import { termsOf } from '../computations/terms.ts';
import {
  discardBlob,
  findMessage,
  readComputation,
  type StoredComputation,
  type StoredMessage,
  storeMessage,
  writeBlob,
} from '../database/index.ts';
import { counted } from '../observability/counted.ts';
import { largestMessage } from '../protocols.ts';
import { readParts } from './multipart.ts';
import { asAnnounced, discard } from './received.ts';
import type { Receiving } from './receiving.ts';

interface CheckedMessage {
  computation: StoredComputation;
  signed: SignedMessage;
  message: duchyMessages.StageMessage;
}

export async function receiveMessage(receiving: Receiving, id: string, request: IncomingMessage) {
  const { json, data } = await readParts(request, 'message');
  const { duchy, slots, turns } = receiving;
  const checked = await checkMessage(receiving, id, json);
  const { sender, stage } = checked.message;
  await slots.run(sender, () => turns.run(`${id} ${stage} ${sender}`, () => keep(duchy, checked, data)));
  return { computation: id, stage };
}

async function checkMessage({ duchy, requireSigned, maxDataBytes }: Receiving, id: string, json: JsonValue) {
  const { signed, message } = readMessage(json);
  if (message.purpose !== STAGE_MESSAGE_PURPOSE) {
    throw mismatch('message.purpose', `must be ${STAGE_MESSAGE_PURPOSE}`);
  }
  if (message.computation !== id) throw mismatch('message.computation', `must be ${id}, as in the path`);
  if (message.recipient !== duchy.name)
    throw mismatch('message.recipient', `must be ${duchy.name}, which received it`);
  if (message.dataSha256.length !== 32) throw mismatch('message.dataSha256', 'must be 32 bytes');
  if (message.dataLength < 0n || message.dataLength > BigInt(maxDataBytes)) {
    throw mismatch('message.dataLength', `must be from 0 to ${maxDataBytes}`);
  }
  const computation = await readComputation(duchy.db, id);
  if (computation === undefined) {
    const unknown = `This duchy does not know ${id} yet, or at all: retry later.`;
    throw new ExchangeError('COMPUTATION_NOT_FOUND', unknown);
  }
  if (!equalBytes(message.termsSha256, await termsOf(computation))) {
    throw mismatch(
      'message.termsSha256',
      'must be the digest of what this duchy was told about the computation',
    );
  }
  const senders = sendersOf(computation, message.stage);
  if (senders.length === 0) {
    throw mismatch('message.stage', `must be one that ${computation.role} takes, and is not`);
  }
  if (!senders.includes(message.sender)) {
    throw mismatch('message.sender', `must be ${senders.join(' or ')}, whose role sends this stage`);
  }
  const largest = largestMessage(computation, message.stage, message.sender);
  if (message.dataLength > BigInt(largest)) {
    throw mismatch('message.dataLength', `must be at most ${largest} for ${message.stage}`);
  }
  const { sender: party, certificate } = message;
  await requireSigned(signed, { party, certificate, computation: id }, 'message');
  return { computation, signed, message };
}

function readMessage(json: JsonValue): Pick<CheckedMessage, 'signed' | 'message'> {
  const violations: Violation[] = [];
  const part = decode(StageMessagePart, json, violations);
  if (part === undefined) throw invalid(violations);
  const signed = part.message;
  try {
    return { signed, message: fromBinary(duchyMessages.StageMessageSchema, signed.message) };
  } catch {
    throw invalid([
      { field: 'message.message', description: 'must be a serialized mex.contract.StageMessage' },
    ]);
  }
}

async function keep(duchy: Duchy, checked: CheckedMessage, data: AsyncIterable<Uint8Array>): Promise<void> {
  const { dataSha256: sha256, dataLength } = checked.message;
  const passing = counted(data, (bytes) => duchy.metrics.received('advance', bytes));
  const received = asAnnounced(passing, { part: 'message', sha256, length: Number(dataLength) });
  const stored = await storedMessage(duchy, checked);
  if (stored === undefined) return store(duchy, checked, received);
  requireSame(stored, checked);
  await discard(received);
}

async function store(duchy: Duchy, checked: CheckedMessage, data: AsyncIterable<Uint8Array>): Promise<void> {
  const { computation, signed, message } = checked;
  requireExpected(checked);
  const { db } = duchy;
  const blob = await writeBlob(db, computation.id, data);
  const isFirst = await db.tx('storeMessage', async (tx) => {
    const isStored = await storeMessage(tx, {
      computation: computation.id,
      stage: message.stage,
      direction: 'IN',
      peer: message.sender,
      certificate: message.certificate,
      signedMessage: packSignedMessage(signed, `type.googleapis.com/${STAGE_MESSAGE_PURPOSE}`),
      blob: blob.id,
    });
    if (isStored) await endWaitIfReady(tx, computation.id);
    return isStored;
  });
  if (isFirst) return duchy.mills.wake();
  await discardBlob(db, blob.id);
  // Another process of this duchy may have stored the message first.
  const stored = await storedMessage(duchy, checked);
  if (stored === undefined) throw ended(checked);
  requireSame(stored, checked);
}

function storedMessage({ db }: Duchy, { computation, message }: CheckedMessage) {
  return findMessage(db, computation.id, { direction: 'IN', stage: message.stage, peer: message.sender });
}

/** Checks that the current or the next stage waits for the message. The sender can be one stage ahead of this duchy. */
function requireExpected(checked: CheckedMessage): void {
  const { computation, message } = checked;
  if (computation.outcome !== null) throw ended(checked);
  const row = rowOf(computation);
  const next = row && rowOf({ ...computation, stage: row.next });
  const isExpected = [row, next].some(
    (r) => r?.waitsFor !== undefined && 'message' in r.waitsFor && r.waitsFor.message === message.stage,
  );
  if (isExpected) return;
  throw new ExchangeError(
    'STAGE_OUT_OF_ORDER',
    `Computation ${computation.id} is at ${computation.stage} here, which does not wait for ${message.stage}: retry later.`,
    { retryAfterSeconds: 1 },
  );
}

function ended({ computation }: CheckedMessage): ExchangeError {
  const how = computation.outcome ?? 'over';
  return new ExchangeError('COMPUTATION_STATE_ILLEGAL', `Computation ${computation.id} is ${how} here.`);
}

function requireSame(stored: StoredMessage, { computation, signed, message }: CheckedMessage): void {
  if (equalBytes(unpackSignedMessage(stored.signedMessage!).message, signed.message)) return;
  throw new ExchangeError(
    'UPLOAD_ALREADY_EXISTS',
    `${message.stage} of computation ${computation.id} was received with other content, which stays.`,
  );
}
