/**
 * Parses, checks, and evaluates consumers' filters in a separate process, which is killed if it takes too much time or
 * memory. The process starts with the first request, and handles one request at a time.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { requireLength } from '../../filters/length.ts';
import type { AttributeValue } from '../../filters/types.ts';
import { errorOf, QueryStopped } from './errors.ts';
import type { CompiledFilter, FilterText, Part, Request, Response } from './requests.ts';

/**
 * The time after which a process that hangs is killed. The process itself limits each request to less than a second of
 * CPU time.
 */
const RESPONSE_LIMIT_MS = 30_000;
/**
 * The time limit for starting the process. It is long, because a start can take half a minute on an overloaded machine.
 * A process that cannot start at all exits immediately, before this limit.
 */
const START_LIMIT_MS = 180_000;
/**
 * The maximum number of evaluation steps in a request for several rows. This many steps take about a tenth of a second.
 */
const STEPS_AT_ONCE = 100_000;
const OWN_PATH = fileURLToPath(import.meta.url);
const SCRIPT = new URL(`evaluationProcess${extname(OWN_PATH)}`, import.meta.url);

/** Checks a filter, and splits it into parts (see `CompiledFilter`). Throws FilterError or QueryStopped. */
export async function compile(filter: FilterText): Promise<CompiledFilter> {
  requireLength(filter.expression);
  return (await run({ ...filter })).compiled!;
}

/**
 * Returns one boolean per row: whether the row matches a part of a filter. A row has the values of the attributes that
 * the part depends on.
 */
export async function match(
  filter: FilterText,
  { part, cost, rows }: { part: Part; cost: number; rows: AttributeValue[][] },
  signal?: AbortSignal,
): Promise<boolean[]> {
  const atOnce = Math.max(1, Math.floor(STEPS_AT_ONCE / cost));
  const matched: boolean[] = [];
  for (let i = 0; i < rows.length; i += atOnce) {
    signal?.throwIfAborted();
    matched.push(...(await run({ ...filter, part, rows: rows.slice(i, i + atOnce) })).matched!);
  }
  return matched;
}

let running: Promise<ChildProcess> | undefined;
let last: Promise<unknown> = Promise.resolve();

async function run(request: Request): Promise<Response> {
  const turn = last.then(() => attempt(request));
  last = turn.catch(() => {});
  const response = await turn;
  if (response.error) throw errorOf(response.error);
  return response;
}

/**
 * Sends the request. If the process is killed, tries once more, because earlier requests may have used up its memory.
 */
async function attempt(request: Request): Promise<Response> {
  try {
    return await send(request);
  } catch (error) {
    if (!(error instanceof QueryStopped)) throw error;
    return send(request);
  }
}

async function send(request: Request): Promise<Response> {
  running ??= start();
  const child = await running.catch((error) => {
    running = undefined;
    throw error;
  });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), RESPONSE_LIMIT_MS);
    const onExit = () => {
      clearTimeout(timer);
      running = undefined;
      reject(new QueryStopped('The filter takes too much time or memory.'));
    };
    child.once('exit', onExit);
    child.once('message', (response) => {
      clearTimeout(timer);
      child.off('exit', onExit);
      resolve(response as Response);
    });
    // Ignore errors from `send`. If the process has ended, its exit event reports that.
    child.send(request, () => {});
  });
}

/**
 * Starts the child process and resolves when it is ready. The child ends when this process ends, and does not keep this
 * process running.
 */
function start(): Promise<ChildProcess> {
  const child = fork(SCRIPT, {
    env: {},
    execArgv: [],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  child.unref();
  child.channel!.unref();
  return new Promise((resolve, reject) => {
    const fail = (reason: unknown) => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      reject(new Error(`The process that evaluates filters does not start: ${reason}`));
    };
    const timer = setTimeout(fail, START_LIMIT_MS, 'it takes too long.');
    child.on('error', fail);
    child.once('exit', fail);
    child.once('message', () => {
      clearTimeout(timer);
      child.off('exit', fail);
      child.once('exit', () => {
        running = undefined;
      });
      resolve(child);
    });
  });
}
