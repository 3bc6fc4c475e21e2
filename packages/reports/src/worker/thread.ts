/** The thread of `correctInThread`. It corrects one report and ends. */
import { parentPort, workerData } from 'node:worker_threads';
import { outcomeOf } from './within.ts';

parentPort!.postMessage(outcomeOf(workerData));
