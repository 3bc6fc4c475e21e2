/**
 * Planted bugs in the gRPC API. It shows the same resources as REST, but uses the names and accepts the deviations that
 * existing gRPC clients expect.
 */
import type { PlantedBug } from '../plant.ts';
import { inExchange, test } from './edits.ts';

const REQUISITIONS = 'rpc/requisitions.ts';
const requisitionsTest = (name: string) => test('exchange/test/rpc/requisitions.test.ts', name);

export const RPC_BUGS: PlantedBug[] = [
  {
    // With this bug, the requisition can change before the measurement is locked. The planted code waits 20 ms before
    // the lock, so that this happens within few operations.
    name: 'empty-etag-filled-before-the-lock',
    edits: [
      inExchange(
        REQUISITIONS,
        '...withEtag(await fulfillmentOf(request, call), request.etag),',
        `...withEtag(
          await fulfillmentOf(request, call),
          request.etag ||
            (await call.run('getRequisition', params).finally(() => new Promise((wake) => setTimeout(wake, 20)))).etag,
        ),`,
      ),
    ],
    foundBy: 'H2',
  },
  {
    name: 'nonce-through-a-number',
    edits: [
      inExchange(
        REQUISITIONS,
        'nonce, certificate: given(request.certificate)',
        'nonce: BigInt.asUintN(64, BigInt(Number(nonce))), certificate: given(request.certificate)',
      ),
    ],
    foundBy: requisitionsTest('a nonce of'),
  },
  {
    name: 'requisition-by-the-name-of-the-consumer',
    edits: [
      inExchange(REQUISITIONS, 'return dataProvider === undefined ?', 'return dataProvider !== null ?'),
    ],
    foundBy: requisitionsTest('always with its canonical name'),
  },
];
