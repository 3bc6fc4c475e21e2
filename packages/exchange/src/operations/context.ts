import type { Finding, Timestamp } from '@measurement-exchange/contract';
import type { Secrets } from '@measurement-exchange/server';
import type { Input, JobName, Output } from '../compute/jobs.ts';
import type { Database } from '../database/db.ts';
import type { LastSeen } from '../database/lastSeen.ts';
import type { OpenMeasurements } from '../database/openMeasurements.ts';
import type { Author } from '../database/writeMeasurements.ts';
import type { Principal } from '../domain/access.ts';
import type { PendingDeadlines } from '../domain/explain/facts.ts';
import type { Checks } from '../domain/findings.ts';
import type { EndpointRules } from '../domain/party.ts';
import type { DuchyOperators, Protocols } from '../domain/protocol.ts';
import type { ChangeBus } from '../feed/changeBus.ts';
import type { Feed } from '../feed/feed.ts';
import type { PageTokens } from './paging.ts';

/** What every operation is given of the running exchange. */
export interface Exchange {
  db: Database;
  clock: () => Timestamp;
  newId: () => string;
  checks: Checks;
  protocols: Protocols;
  /** By duchy: the data providers that it belongs to. */
  duchyOperators: DuchyOperators;
  /** Bounds what a consumer has open. */
  openMeasurements: OpenMeasurements;
  /** When something that is pending ends by itself. */
  deadlines: PendingDeadlines;
  lastSeen: LastSeen;
  /** Where duchies may be. */
  duchyEndpoints: EndpointRules;
  /** Whether webhooks may be http: in development mode only. */
  allowsHttp: boolean;
  pageTokens: PageTokens;
  /** Who follows the log of changes. */
  feed: Feed;
  /** Seals what is stored and must not be read from a copy of the database. */
  secrets: Secrets;
  /** After a change to parties or bindings: this replica sees it at once, the others within 30 s. */
  principalsChanged: () => void;
  /** Announces changes, and work for the background jobs. */
  bus: ChangeBus;
}

/** One call: who makes it, and what the checks found that is not part of its response. */
export interface Call {
  principal: Principal;
  issuer: string;
  subject: string;
  /** Finds the log line. */
  requestId: string;
  /** Filled by the operation; counted in the `x-mex-findings` header and logged. */
  findings: Finding[];
  /** Runs a job in the caller's turn and charges its time to the caller's rate. */
  compute<J extends JobName>(job: J, input: Input<J>): Promise<Output<J>>;
  /** Waits without the slot that the call has, and outside of its deadline. `gone`: when the caller hangs up. */
  waitAside(wait: (gone: AbortSignal) => Promise<void>): Promise<void>;
}

/** Who makes a change, for the transition log. */
export function authorOf(call: Call): Author {
  return { actor: call.principal.name, requestId: call.requestId, findings: call.findings };
}
