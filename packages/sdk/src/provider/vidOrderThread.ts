/** The worker thread that orders the virtual person IDs (VIDs) of a population. */
import { parentPort, workerData } from 'node:worker_threads';
import { orderVids } from '@measurement-exchange/mpc/shares/vidOrder';

const indexes = orderVids(workerData);
parentPort!.postMessage(indexes, [indexes.buffer]);
