/**
 * The process that runs what consumers wrote. A thread of its own evaluates; the main thread relays requests and
 * responses, and ends the process when a request takes too much time or memory, or when the agent is gone.
 */
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import type { Request } from './requests.ts';

/** The memory of the whole process; it takes about 70 MB before the first request. */
const MAX_MEMORY_MB = 200;
const MAX_HEAP_MB = 96;
/** The processor time for one request, so that a busy machine makes no difference. */
const MAX_TIME_MS = 500;
const WATCH_MS = 10;

if (isMainThread) watch();
else {
  // An evaluation that fails is common, and a stack trace takes most of its time.
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
  // Ctrl-C reaches every process of a terminal; the agent decides when this one ends.
  process.on('SIGINT', () => {});
}

/** Ends all threads at once, whatever they do. */
function end(): void {
  process.kill(process.pid, 'SIGKILL');
}
