/** The thread that orders the VIDs of a population. */
import { parentPort, workerData } from 'node:worker_threads';
import { orderVids } from '@measurement-exchange/mpc/shares/vidOrder';

const indexes = orderVids(workerData);
parentPort!.postMessage(indexes, [indexes.buffer]);
