/**
 * The process that runs consumers' filters. A worker thread evaluates the filters. The main thread relays requests and
 * responses. The main thread also kills the process if a request takes too much time or memory, or if the agent has
 * exited.
 */
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import type { Request } from './requests.ts';

/** The memory limit for the whole process, which uses about 70 MB before the first request. */
const MAX_MEMORY_MB = 200;
const MAX_HEAP_MB = 96;
/** The CPU time limit for one request. Unlike elapsed time, CPU time does not depend on how busy the machine is. */
const MAX_TIME_MS = 500;
const WATCH_MS = 10;

if (isMainThread) watch();
else {
  // Collect no stack traces. Failed evaluations are common, and would spend most of their time on the traces.
  Error.stackTraceLimit = 0;
  const { respond } = await import('./requests.ts');
  parentPort!.on('message', (request: Request) => parentPort!.postMessage(respond(request)));
  parentPort!.postMessage('ready');
}

function watch(): void {
  const thread = new Worker(new URL(import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
  });
  let timer: NodeJS.Timeout | undefined;
  process.on('message', (request) => {
    const before = process.cpuUsage();
    timer = setInterval(() => {
      const { user, system } = process.cpuUsage(before);
      if (user + system > MAX_TIME_MS * 1000) end();
      if (process.memoryUsage.rss() > MAX_MEMORY_MB * 2 ** 20) end();
    }, WATCH_MS);
    thread.postMessage(request);
  });
  thread.on('message', (response) => {
    clearInterval(timer);
    process.send!(response);
  });
  thread.on('error', end);
  process.on('disconnect', end);
  // Ctrl-C reaches every process in a terminal. Ignore it here, because the agent decides when this process ends.
  process.on('SIGINT', () => {});
}

/** Kills the whole process immediately, even if a thread is busy. */
function end(): void {
  process.kill(process.pid, 'SIGKILL');
}
