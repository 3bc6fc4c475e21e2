/** Receives uploads from providers: checks an upload, stores it, reports it to the exchange, and then responds. */
import type { IncomingMessage } from 'node:http';
import { packSignedMessage, unpackSignedMessage } from '@measurement-exchange/consent';
import { ExchangeError, equalBytes, FULFILLMENT_PURPOSE } from '@measurement-exchange/contract';
import type { Duchy } from '../computations/context.ts';
import { reportFulfillment } from '../computations/exchange.ts';
import { follow } from '../computations/follow.ts';
import { firstStage } from '../computations/progress.ts';
import { exchangeUnavailable } from '../computations/rejections.ts';
import {
  discardBlob,
  markReported,
  type StoredUpload,
  storeUpload,
  uploadOf,
  writeBlob,
} from '../database/index.ts';
import { counted } from '../observability/counted.ts';
import { uploadRules } from '../protocols.ts';
import { type CheckedFulfillment, checkFulfillment } from './fulfillment.ts';
import { readParts } from './multipart.ts';
import { asAnnounced, discard } from './received.ts';
import type { Receiving } from './receiving.ts';

export async function receiveUpload(receiving: Receiving, requisition: string, request: IncomingMessage) {
  const { json, data } = await readParts(request, 'fulfillment');
  const { duchy, slots, turns } = receiving;
  const checked = await checkFulfillment(receiving, requisition, json);
  const { dataProvider } = checked.requisition;
  return slots.run(dataProvider, () => turns.run(requisition, () => keep(duchy, checked, data)));
}

async function keep(duchy: Duchy, checked: CheckedFulfillment, data: AsyncIterable<Uint8Array>) {
  const { computation, requisition, fulfillment } = checked;
  const { dataSha256: sha256, dataLength } = fulfillment;
  const passing = counted(data, (bytes) => duchy.metrics.received('fulfill', bytes));
  const received = asAnnounced(passing, { part: 'fulfillment', sha256, length: Number(dataLength) });
  let upload = await uploadOf(duchy.db, requisition.name);
  if (upload === undefined) upload = await store(duchy, checked, received);
  else {
    // Don't check the contents again, because the stored upload has passed that check. The check may also need the
    // computation's private key, which is deleted when the computation ends.
    requireSame(upload, checked);
    await discard(received);
  }
  if (upload.reportedTime === null) await report(duchy, checked, upload);
  return { requisition: upload.requisition, computation: computation.id, state: 'FULFILLED' };
}

async function store(duchy: Duchy, checked: CheckedFulfillment, received: AsyncIterable<Uint8Array>) {
  requireOpen(checked);
  const { db } = duchy;
  const { computation, requisition, signed, fulfillment, secretSeed } = checked;
  const data = uploadRules(computation.protocol).checked(duchy, received, computation, requisition.name);
  const blob = await writeBlob(db, computation.id, data);
  const isFirst = await db.tx('storeUpload', (tx) =>
    storeUpload(tx, {
      requisition: requisition.name,
      computation: computation.id,
      dataProvider: requisition.dataProvider,
      certificate: fulfillment.certificate,
      nonce: fulfillment.nonce,
      registerCount: computation.registerCount,
      secretSeed,
      signedFulfillment: packSignedMessage(signed, `type.googleapis.com/${FULFILLMENT_PURPOSE}`),
      blob: blob.id,
    }),
  );
  if (!isFirst) await discardBlob(db, blob.id);
  const stored = await uploadOf(db, requisition.name);
  if (stored === undefined) throw ended(checked);
  // Another process of this duchy may have stored an upload for this requisition first.
  requireSame(stored, checked);
  return stored;
}

function requireOpen(checked: CheckedFulfillment): void {
  const { computation, requisition } = checked;
  if (computation.outcome !== null) throw ended(checked);
  if (computation.stage === firstStage(computation.protocol)) {
    throw new ExchangeError('STAGE_OUT_OF_ORDER', 'This duchy has not set its parameters yet: retry.', {
      retryAfterSeconds: 1,
    });
  }
  if (requisition.state !== 'UNFULFILLED') {
    throw new ExchangeError('REQUISITION_STATE_ILLEGAL', `${requisition.name} is ${requisition.state}.`);
  }
}

function ended({ computation, requisition }: CheckedFulfillment): ExchangeError {
  const how = computation.outcome ?? 'over';
  return new ExchangeError('COMPUTATION_STATE_ILLEGAL', `The computation of ${requisition.name} is ${how}.`);
}

/**
 * Throws if the new signed message differs from the stored one, for example in the digest, the seed, or the nonce. The
 * signatures are not part of the messages and may differ.
 */
function requireSame(upload: StoredUpload, { signed, requisition }: CheckedFulfillment): void {
  if (equalBytes(unpackSignedMessage(upload.signedFulfillment).message, signed.message)) return;
  throw new ExchangeError(
    'UPLOAD_ALREADY_EXISTS',
    `${requisition.name} has an upload with other content, which stays: send that one again, or nothing.`,
  );
}

/**
 * Reports the stored upload to the exchange. If the report fails, the herald (the loop that follows the exchange)
 * retries it later.
 */
async function report(
  duchy: Duchy,
  { computation: { view } }: CheckedFulfillment,
  { requisition, nonce }: StoredUpload,
): Promise<void> {
  const reported = reportFulfillment(duchy.client, view.name!, { requisition, nonce });
  const after = await reported.catch((error: unknown) => {
    const isFinal = error instanceof ExchangeError && error.code === 'FAILED_PRECONDITION';
    throw isFinal ? error : exchangeUnavailable(error);
  });
  await markReported(duchy.db, requisition);
  await follow(duchy, after);
}
