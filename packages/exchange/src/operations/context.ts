import type { Finding, Operation, RequestOf, ResponseOf, Timestamp } from '@measurement-exchange/contract';
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
import type { Watch } from './changes/events.ts';
import type { PageTokens } from './paging.ts';

/** The parts of the running exchange that operations use. */
export interface Exchange {
  db: Database;
  clock: () => Timestamp;
  newId: () => string;
  checks: Checks;
  protocols: Protocols;
  /** By duchy: the data providers that it belongs to. */
  duchyOperators: DuchyOperators;
  /** Limits the open measurements of a consumer. */
  openMeasurements: OpenMeasurements;
  /** The deadlines after which pending measurements end by themselves. */
  deadlines: PendingDeadlines;
  lastSeen: LastSeen;
  /** The endpoints that duchies may have. */
  duchyEndpoints: EndpointRules;
  /** Whether webhooks may be http: in development mode only. */
  allowsHttp: boolean;
  pageTokens: PageTokens;
  /** Follows the log of changes. */
  feed: Feed;
  /** Encrypts secrets that must not be readable in a copy of the database. */
  secrets: Secrets;
  /** To be called after a change of parties or bindings: this replica sees it at once, the others within 30 s. */
  principalsChanged: () => void;
  /** Announces changes, and work for the background jobs. */
  bus: ChangeBus;
}

/** One call of an operation: its caller, and the findings that are not part of its response. */
export interface Call {
  principal: Principal;
  issuer: string;
  subject: string;
  /** Identifies the log line of the request. */
  requestId: string;
  /** Filled by the operation; counted in the `x-mex-findings` header and logged. */
  findings: Finding[];
  /** Runs a job in the caller's turn and charges its time to the caller's rate. */
  compute<J extends JobName>(job: J, input: Input<J>): Promise<Output<J>>;
  /** Waits without a slot and outside of the deadline. `gone` is aborted when the caller hangs up. */
  waitAside(wait: (gone: AbortSignal) => Promise<void>): Promise<void>;
}

/** An operation: its name in the routes table gives the types of its request and its response. */
export type Handler<O extends Operation> = (
  exchange: Exchange,
  call: Call,
  request: RequestOf<O>,
) => Promise<['watchChanges'] extends [O] ? Watch : ResponseOf<O>>;

/** The author of a change, for the transition log. */
export function authorOf(call: Call): Author {
  return { actor: call.principal.name, requestId: call.requestId, findings: call.findings };
}
