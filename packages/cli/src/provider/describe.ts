/** Converts the events that an agent reports, such as a received requisition, to log lines. */
import type { AgentEvent, AgentStage } from '@measurement-exchange/sdk/provider';
import { paint, visible } from '../terminal/output.ts';

const PROGRESS_MS = 5000;

export type LoggedEvent = AgentEvent | { type: 'warning'; message: string };

/**
 * Returns a function that converts an agent's event to a log line, or to undefined if the event should not be logged.
 */
export function describeEvent(): (event: LoggedEvent, now: number) => string | undefined {
  const loggedAt = new Map<string, number>();
  return (event, now) => {
    if (!('requisition' in event)) return describe(OF_EXCHANGE, event);
    const name = event.requisition.split('/').at(-1)!;
    if (event.type === 'received' || event.type === 'resending') loggedAt.set(name, now);
    else if (event.type === 'progress') {
      if (now - (loggedAt.get(name) ?? now) < PROGRESS_MS) return undefined;
      loggedAt.set(name, now);
    } else if (event.type !== 'warning') loggedAt.delete(name);
    return `${name}  ${describe(OF_REQUISITION, event)}`;
  };
}

type Descriptions<E extends { type: string }> = {
  [T in E['type']]: (event: Extract<E, { type: T }>) => string;
};

function describe<E extends { type: string }>(descriptions: Descriptions<E>, event: E): string {
  return (descriptions[event.type as E['type']] as (event: E) => string)(event);
}

const OF_EXCHANGE: Descriptions<Exclude<LoggedEvent, { requisition: string }>> = {
  unreachable: ({ why }) =>
    paint('yellow', `The exchange does not respond, and is retried until it does: ${visible(why)}`),
  reachable: () => paint('green', 'The exchange responds again.'),
  polling: ({ why }) =>
    paint('yellow', `Changes cannot be followed; the exchange is polled: ${visible(why)}`),
  following: () => paint('green', 'Changes are followed again.'),
  warning: ({ message }) => paint('yellow', visible(message)),
};

const STAGES: Record<AgentStage, string> = {
  ordering: 'putting the population in order',
  scanning: 'scanning',
  encrypting: 'encrypting the sketch',
  uploading: 'sending it to a duchy',
};

const OF_REQUISITION: Descriptions<Extract<LoggedEvent, { requisition: string }>> = {
  received: ({ measurement }) => `received, for ${measurement}`,
  waiting: () => 'waits until its duchies are ready',
  deferred: ({ until, why }) => `${paint('yellow', 'deferred')} until ${until}: ${visible(why)}`,
  held: ({ why }) => `${paint('yellow', 'held')}, nothing is charged: ${visible(why)}`,
  progress: ({ stage, percent }) => `${STAGES[stage]}, ${Math.floor(percent)} %`,
  warning: ({ message }) => paint('yellow', visible(message)),
  resending: () => 'has a stored response, which is sent again',
  fulfilled: ({ ms }) => `${paint('green', 'fulfilled')} in ${(ms / 1000).toFixed(1)} s`,
  refused: ({ justification, message, sent }) =>
    `${paint('red', 'refused')} (${justification}): ${visible(message)} Sent: ${visible(sent)}`,
  closed: ({ state, charged }) => `is ${state}${charged ? '; its cost stays charged' : ''}`,
  retrying: ({ attempt, inMs, why }) =>
    `${paint('yellow', `attempt ${attempt} failed`)}, again in ${(inMs / 1000).toFixed(1)} s: ${visible(why)}`,
  rejected: ({ rejections, most, inMs, why, remedy }) => {
    const next =
      rejections < most ? `sent again in ${Math.ceil(inMs / 60_000)} min` : 'given up: it is refused';
    const times = paint('yellow', `rejected ${rejections} of ${most} times`);
    return `${times}, ${next}: ${visible(why)} ${remedy}`;
  },
};
