/** Runs parts of a benchmark in separate processes, each with its own event loop. Each call is sent as a message. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export type Handlers = Record<string, (argument: never) => unknown>;

export interface Worker<H extends Handlers> {
  pid: number;
  call<K extends keyof H & string>(
    name: K,
    argument: Parameters<H[K]>[0],
  ): Promise<Awaited<ReturnType<H[K]>>>;
  stop(): Promise<void>;
}

/** Starts `bench/lib/<file>`, which must call `serve`. */
export async function startWorker<H extends Handlers>(file: string): Promise<Worker<H>> {
  const child = fork(join(import.meta.dirname, file), { serialization: 'advanced' });
  const exited = once(child, 'exit');
  const endWithUs = () => child.kill('SIGKILL');
  process.once('exit', endWithUs);
  const gone = exited.then(([code]) => {
    process.off('exit', endWithUs);
    throw new Error(`${file} ended (${code}).`);
  });
  gone.catch(() => {});
  let lastId = 0;
  const worker: Worker<H> = {
    pid: child.pid!,
    async call(name, argument) {
      const id = ++lastId;
      child.send({ id, name, argument });
      const { result, error } = await Promise.race([replyTo(child, id), gone]);
      if (error !== undefined) throw new Error(`${file}: ${error}`);
      return result as never;
    },
    async stop() {
      child.kill();
      await exited;
    },
  };
  return worker;
}

interface Reply {
  id: number;
  result?: unknown;
  error?: string;
}

function replyTo(child: ChildProcess, id: number): Promise<Reply> {
  return new Promise((resolve) => {
    const listener = (reply: Reply) => {
      if (reply.id !== id) return;
      child.off('message', listener);
      resolve(reply);
    };
    child.on('message', listener);
  });
}

/** Runs in the worker process, and handles each call when its message arrives. */
export function serve(handlers: Handlers): void {
  process.on('message', async ({ id, name, argument }: { id: number; name: string; argument: never }) => {
    try {
      process.send!({ id, result: await handlers[name]!(argument) });
    } catch (error) {
      process.send!({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  });
  process.on('disconnect', () => process.exit());
}
