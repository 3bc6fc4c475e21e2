/** Log lines for the events of an agent. */
import type { AgentEvent, AgentStage } from '@measurement-exchange/sdk/provider';
import { paint, visible } from '../terminal/output.ts';

/** How often a long scan logs its progress. */
const PROGRESS_MS = 5000;

/** An event of the agent, or a warning that is not about a requisition. */
export type LoggedEvent = AgentEvent | { type: 'warning'; message: string };

/** Describes events in their order; undefined for those that are not logged. */
export function describeEvent(): (event: LoggedEvent, now: number) => string | undefined {
  const loggedAt = new Map<string, number>();
  return (event, now) => {
    if (!('requisition' in event)) return ofExchange(event);
    const name = event.requisition.split('/').at(-1)!;
    if (event.type === 'received' || event.type === 'resending') loggedAt.set(name, now);
    else if (event.type === 'progress') {
      if (now - (loggedAt.get(name) ?? now) < PROGRESS_MS) return undefined;
      loggedAt.set(name, now);
    } else if (event.type !== 'warning') loggedAt.delete(name);
    return `${name}  ${ofRequisition(event)}`;
  };
}

function ofExchange(event: Exclude<LoggedEvent, { requisition: string }>): string {
  switch (event.type) {
    case 'unreachable':
      return paint(
        'yellow',
        `The exchange does not respond, and is retried until it does: ${visible(event.why)}`,
      );
    case 'reachable':
      return paint('green', 'The exchange responds again.');
    case 'polling':
      return paint('yellow', `Changes cannot be followed; the exchange is polled: ${visible(event.why)}`);
    case 'following':
      return paint('green', 'Changes are followed again.');
    case 'warning':
      return paint('yellow', visible(event.message));
  }
}

const STAGES: Record<AgentStage, string> = {
  ordering: 'putting the population in order',
  scanning: 'scanning',
  encrypting: 'encrypting the sketch',
  uploading: 'sending it to a duchy',
};

function ofRequisition(event: Extract<LoggedEvent, { requisition: string }>): string {
  switch (event.type) {
    case 'received':
      return `received, for ${event.measurement}`;
    case 'waiting':
      return 'waits until its duchies are ready';
    case 'deferred':
      return `${paint('yellow', 'deferred')} until ${event.until}: ${visible(event.why)}`;
    case 'held':
      return `${paint('yellow', 'held')}, nothing is charged: ${visible(event.why)}`;
    case 'progress':
      return `${STAGES[event.stage]}, ${Math.floor(event.percent)} %`;
    case 'warning':
      return paint('yellow', visible(event.message));
    case 'resending':
      return 'has a stored response, which is sent again';
    case 'fulfilled':
      return `${paint('green', 'fulfilled')} in ${(event.ms / 1000).toFixed(1)} s`;
    case 'refused':
      return `${paint('red', 'refused')} (${event.justification}): ${visible(event.message)} Sent: ${visible(event.sent)}`;
    case 'closed':
      return `is ${event.state}${event.charged ? '; its cost stays charged' : ''}`;
    case 'retrying': {
      const wait = `${(event.inMs / 1000).toFixed(1)} s`;
      return `${paint('yellow', `attempt ${event.attempt} failed`)}, again in ${wait}: ${visible(event.why)}`;
    }
    case 'rejected': {
      const { rejections, most, inMs } = event;
      const next =
        rejections < most ? `sent again in ${Math.ceil(inMs / 60_000)} min` : 'given up: it is refused';
      const times = paint('yellow', `rejected ${rejections} of ${most} times`);
      return `${times}, ${next}: ${visible(event.why)} ${event.remedy}`;
    }
  }
}
