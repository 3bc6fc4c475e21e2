/** The gRPC health service, which load balancers and orchestrators query. */
import { Code, ConnectError, type HandlerContext, type ServiceImpl } from '@connectrpc/connect';
import { type Health, HealthCheckResponse_ServingStatus as Status } from '@measurement-exchange/contract/rpc';

const CHECK_MS = 1_000;

export class HealthService {
  private readonly isReady: () => Promise<boolean>;
  private readonly services: ReadonlySet<string>;
  private readonly stopping = new AbortController();

  /** `services` are the full names of all services. */
  constructor(isReady: () => Promise<boolean>, services: Iterable<string>) {
    this.isReady = isReady;
    // Add the empty name, which stands for the whole server.
    this.services = new Set(['', ...services]);
  }

  /** Changes the status to NOT_SERVING. All running `watch` calls send this status and end. */
  stop(): void {
    this.stopping.abort();
  }

  implementation(): ServiceImpl<typeof Health> {
    return {
      check: async ({ service }) => {
        if (!this.services.has(service)) throw new ConnectError('No such service.', Code.NotFound);
        return { status: await this.status() };
      },
      watch: ({ service }, { signal }) => this.watch(service, signal),
    };
  }

  private async *watch(service: string, signal: HandlerContext['signal']) {
    let sent: Status | undefined;
    while (!signal.aborted) {
      const status = this.services.has(service) ? await this.status() : Status.SERVICE_UNKNOWN;
      if (status !== sent) yield { status };
      sent = status;
      if (this.stopping.signal.aborted) return;
      await pause(CHECK_MS, AbortSignal.any([signal, this.stopping.signal]));
    }
  }

  private async status(): Promise<Status> {
    const isServing = !this.stopping.signal.aborted && (await this.isReady());
    return isServing ? Status.SERVING : Status.NOT_SERVING;
  }
}

/** Resolves after `ms` milliseconds, or when `signal` is aborted. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    if (signal.aborted) done();
    else signal.addEventListener('abort', done);
  });
}
