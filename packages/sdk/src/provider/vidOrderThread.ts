/** The thread that orders a population's VIDs. */
import { parentPort, workerData } from 'node:worker_threads';
import { orderVids } from '@measurement-exchange/mpc/shares/vidOrder';

const indexes = orderVids(workerData);
parentPort!.postMessage(indexes, [indexes.buffer]);
