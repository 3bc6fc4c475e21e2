/** The status that an agent stores in its ledger, so that another process can read it. */

/** The work of an agent now and since it started. Times are RFC 3339. */
export interface AgentStatus {
  startTime: string;
  /** When the exchange last listed the open requisitions. Absent before the first time. */
  pollTime?: string;
  /** Why the exchange cannot be reached. Absent if it can. */
  unreachable?: string;
  /** How many events of each type there were. */
  counts: AgentCounts;
  /** The number of requisitions without a response. */
  open: number;
  oldestOpen?: OpenRequisition;
  /** The number of requisitions that wait until they are tried again, and those that are tried first. */
  waiting: number;
  nextRetries: Retry[];
}

/** The events that are counted. `retrying` and `rejected` are failures. */
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

/** A requisition without a response. */
export interface OpenRequisition {
  requisition: string;
  createTime: string;
}

/** A requisition that is tried again at `time`, or earlier if the reason no longer applies. */
export interface Retry {
  requisition: string;
  time: string;
  why: string;
}
