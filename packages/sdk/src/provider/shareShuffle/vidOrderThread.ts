/** The thread that orders the VIDs of a population. */
import { parentPort, workerData } from 'node:worker_threads';
import { orderVids } from './vidOrder.ts';

const indexes = orderVids(workerData);
parentPort!.postMessage(indexes, [indexes.buffer]);
