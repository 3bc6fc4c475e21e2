/** The status that an agent stores in its ledger, so that another process can read it. */

/** An agent's current work, and its counts since it started. Times are RFC 3339. */
export interface AgentStatus {
  startTime: string;
  /** The time at which the agent ended. Absent while it runs, and if it was killed. */
  endTime?: string;
  /** The time of the last successful poll. Absent before the first poll. */
  pollTime?: string;
  /** An agent that has stored no later poll by this time has stopped. Absent before the first poll. */
  overdueTime?: string;
  /** The reason that the exchange cannot be reached. Absent if it can be reached. */
  unreachable?: string;
  /** The number of log events of each type. */
  counts: AgentCounts;
  /** The number of requisitions that are still open at the exchange. */
  open: number;
  oldestOpen?: OpenRequisition;
  /** The number of requisitions that wait for a retry. `nextRetries` contains the earliest of these retries. */
  waiting: number;
  nextRetries: Retry[];
}

/** The types of log events that are counted. `retrying` and `rejected` are failures. */
export const COUNTED = [
  'fulfilled',
  'refused',
  'closed',
  'retrying',
  'rejected',
  'deferred',
  'held',
] as const;
export type Counted = (typeof COUNTED)[number];
export type AgentCounts = Record<Counted, number>;

/** A requisition that is still open at the exchange. */
export interface OpenRequisition {
  requisition: string;
  createTime: string;
}

/** A requisition that is tried again at `time`, or earlier if the reason for waiting (`why`) no longer applies. */
export interface Retry {
  requisition: string;
  time: string;
  why: string;
}
