/** The agent's health and metrics endpoints. docs/observability.md explains each metric. */
import type { Agent, Ledger } from '@measurement-exchange/sdk/provider';
import { type Listening, MetricsRegistry } from '@measurement-exchange/server';
import { listenOperations } from '@measurement-exchange/server/operations';
import type { LoggedEvent } from './describe.ts';

/** The minimum time between two computations of the metrics that are based on the ledger. */
const READ_EVERY_MS = 15_000;
/**
 * The maximum number of references (the provider's own IDs of event groups) that have a budget metric. References with
 * less remaining budget come first.
 */
const MAX_REFERENCES = 100;

export class AgentMetrics extends MetricsRegistry {
  private readonly responses = this.counter(
    'mex_provider_responses_total',
    'Requisitions by outcome: fulfilled, refused, or closed by somebody else',
    ['outcome'],
  );
  private readonly refusals = this.counter('mex_provider_refusals_total', 'Refusals by justification', [
    'justification',
  ]);
  private readonly retries = this.counter(
    'mex_provider_retries_total',
    'Attempts that are repeated by reason: failed, rejected by a duchy, deferred, or held',
    ['reason'],
  );
  private readonly unreachable = this.counter(
    'mex_provider_exchange_failures_total',
    'How often the exchange could no longer be reached',
    [],
  );

  observe(event: LoggedEvent): void {
    const { type } = event;
    if (type === 'fulfilled' || type === 'refused' || type === 'closed')
      this.responses.inc({ outcome: type });
    if (type === 'refused') this.refusals.inc({ justification: event.justification });
    if (type === 'retrying') this.retries.inc({ reason: 'failed' });
    if (type === 'rejected' || type === 'deferred' || type === 'held') this.retries.inc({ reason: type });
    if (type === 'unreachable') this.unreachable.inc();
  }

  watchAgent(agent: Agent, ledger: Ledger): void {
    const gauge = (name: string, help: string, read: () => number | undefined) =>
      this.watch({ name: `mex_provider_${name}`, help }, 0, async () => {
        const value = read();
        return value === undefined ? [] : [{ value }];
      });
    gauge('open_requisitions', 'Requisitions without a response', () => agent.status().open);
    gauge('waiting_requisitions', 'Requisitions that are tried again later', () => agent.status().waiting);
    gauge('lag_seconds', 'Age of the oldest requisition without a response; 0 if there is none', () => {
      const { oldestOpen } = agent.status();
      return oldestOpen ? Math.max(0, (Date.now() - Date.parse(oldestOpen.createTime)) / 1000) : 0;
    });
    gauge('next_retry_timestamp_seconds', 'When the next requisition is tried again, in Unix time', () => {
      const [next] = agent.status().nextRetries;
      return next && Date.parse(next.time) / 1000;
    });
    gauge('polled_timestamp_seconds', 'When the exchange last listed the requisitions, in Unix time', () => {
      const { pollTime } = agent.status();
      return pollTime === undefined ? undefined : Date.parse(pollTime) / 1000;
    });
    const left = {
      name: 'mex_provider_budget_left_ratio',
      help: 'Share of the budget that is left on the day with the least, by reference',
      labelNames: ['reference'],
    };
    this.watch(left, READ_EVERY_MS, async () => leastLeft(ledger));
  }
}

function leastLeft(ledger: Ledger) {
  const least = new Map<string, number>();
  for (const { reference, leftRatio = 1 } of ledger.ranges()) {
    least.set(reference, Math.min(leftRatio, least.get(reference) ?? 1));
  }
  const sorted = [...least].sort(([, a], [, b]) => a - b).slice(0, MAX_REFERENCES);
  return sorted.map(([reference, value]) => ({ labels: { reference }, value }));
}

/** Serves the endpoints. The agent is ready while it can list its requisitions at the exchange. */
export async function serveOperations(
  { host = '127.0.0.1', port = 0 }: { host?: string; port?: number },
  { agent, ledger, metrics }: { agent: Agent; ledger: Ledger; metrics: AgentMetrics },
): Promise<Listening> {
  metrics.watchAgent(agent, ledger);
  const isReady = async () => {
    const { pollTime, unreachable } = agent.status();
    return pollTime !== undefined && unreachable === undefined;
  };
  return listenOperations({ host, port, isReady, metrics }).catch((error: NodeJS.ErrnoException) => {
    throw new Error(
      `operations: ${host}:${port} cannot be used (${error.code}): set another host or port in the settings.`,
    );
  });
}
