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
  duchyOperators: DuchyOperators;
  openMeasurements: OpenMeasurements;
  deadlines: PendingDeadlines;
  lastSeen: LastSeen;
  duchyEndpoints: EndpointRules;
  /** Whether webhooks may use http, which only development mode allows. */
  allowsHttp: boolean;
  pageTokens: PageTokens;
  feed: Feed;
  /** Encrypts secrets that must not be readable in a copy of the database. */
  secrets: Secrets;
  /** Must be called after a change of parties or bindings. This replica sees the change at once, the others within 30 s. */
  principalsChanged: () => void;
  /** Announces changes, and work for the background jobs. */
  bus: ChangeBus;
}

export interface Call {
  principal: Principal;
  issuer: string;
  subject: string;
  /** Identifies the log line of the request. */
  requestId: string;
  /** The operation sets the findings. They are counted in the header `x-mex-findings`, and logged. */
  findings: Finding[];
  /** Runs a job in a worker thread when it is the caller's turn, and charges its time to the caller's rate. */
  compute<J extends JobName>(job: J, input: Input<J>): Promise<Output<J>>;
  /** Waits without occupying a slot and without a deadline. `gone` is aborted when the caller disconnects. */
  waitAside(wait: (gone: AbortSignal) => Promise<void>): Promise<void>;
}

/** An operation. The routes table has the types of its request and its response. */
export type Handler<O extends Operation> = (
  exchange: Exchange,
  call: Call,
  request: RequestOf<O>,
) => Promise<['watchChanges'] extends [O] ? Watch : ResponseOf<O>>;

export function authorOf(call: Call): Author {
  return { actor: call.principal.name, requestId: call.requestId, findings: call.findings };
}
