import type { Finding, Operation, RequestOf, ResponseOf, Timestamp } from '@measurement-exchange/contract';
import type { Secrets } from '@measurement-exchange/server';
import type { Input, JobName, Output } from '../compute/jobs.ts';
import type { Database } from '../database/db.ts';
import type { LastSeen } from '../database/lastSeen.ts';
import type { OpenMeasurements } from '../database/openMeasurements.ts';
import type { ReplicaRecord } from '../database/replicas.ts';
import type { Author } from '../database/writeMeasurements.ts';
import type { Principal } from '../domain/access.ts';
import type { PendingDeadlines } from '../domain/explain/facts.ts';
import type { Checks } from '../domain/findings.ts';
import type { EndpointRules } from '../domain/party.ts';
import type { DuchyOperators } from '../domain/protocol.ts';
import type { Protocols } from '../domain/protocolOptions.ts';
import type { ChangeBus } from '../feed/changeBus.ts';
import type { Feed } from '../feed/feed.ts';
import type { Watch } from './changes/events.ts';
import type { PageTokens } from './paging.ts';

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
  replica: ReplicaRecord;
  mode: 'development' | 'production';
  doctor: Doctor;
  duchyEndpoints: EndpointRules;
  /** Whether webhook URLs are allowed to use http. True only in development mode. */
  allowsHttp: boolean;
  pageTokens: PageTokens;
  feed: Feed;
  /** Encrypts secrets, so that a copy of the database does not reveal the secrets. */
  secrets: Secrets;
  /**
   * Call this after a change that affects the authentication of callers: a change to a party, a principal's binding, an
   * API key, a trusted root, or a certificate's revocation. This replica then sees the change immediately, and other
   * replicas within 30 s.
   */
  principalsChanged: () => void;
  bus: ChangeBus;
}

interface Doctor {
  readonly leaseMs: number;
  begin(startTime: Timestamp): void;
  runIfDue(everyHours: number): Promise<false>;
}

export interface Call {
  principal: Principal;
  issuer: string;
  subject: string;
  /** The request's ID in the log and in the header `x-request-id`. */
  requestId: string;
  /** Findings are logged, and the response header `x-mex-findings` contains their number. */
  findings: Finding[];
  /**
   * Runs a job. Long jobs run in a worker thread, in which callers take turns. The job's CPU time counts toward the
   * caller's rate limit.
   */
  compute<J extends JobName>(job: J, input: Input<J>): Promise<Output<J>>;
  /**
   * Frees the request's slot and suspends its deadline while `wait` runs. `gone` is aborted when the caller
   * disconnects.
   */
  waitAside(wait: (gone: AbortSignal) => Promise<void>): Promise<void>;
}

/** Runs an operation. routes.ts in the contract package defines the request and response types. */
export type Handler<O extends Operation> = (
  exchange: Exchange,
  call: Call,
  request: RequestOf<O>,
) => Promise<['watchChanges'] extends [O] ? Watch : ResponseOf<O>>;

export function authorOf(call: Call): Author {
  return { actor: call.principal.name, requestId: call.requestId, findings: call.findings };
}
