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
import type { DuchyOperators, Protocols } from '../domain/protocol.ts';
import type { ChangeBus } from '../feed/changeBus.ts';
import type { Feed } from '../feed/feed.ts';
import type { Watch } from './changes/events.ts';
import type { PageTokens } from './paging.ts';

/** The parts of the running exchange that operations need. */
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
  /** Whether webhook URLs may use http. Only development mode allows this. */
  allowsHttp: boolean;
  pageTokens: PageTokens;
  feed: Feed;
  /** Encrypts secrets, so that nobody can read them from a copy of the database. */
  secrets: Secrets;
  /**
   * Must be called after a change to a party or to a principal's binding. This replica then uses the change immediately,
   * and other replicas use it within 30 s.
   */
  principalsChanged: () => void;
  /** Announces changes, and wakes the background jobs that have work to do. */
  bus: ChangeBus;
}

/** Runs the doctor in the background. See jobs/doctor.ts. */
interface Doctor {
  readonly leaseMs: number;
  begin(startTime: Timestamp): void;
  runIfDue(everyHours: number): Promise<false>;
}

export interface Call {
  principal: Principal;
  issuer: string;
  subject: string;
  /** The ID of the request in the log. */
  requestId: string;
  /**
   * The findings of the operation's checks. They are logged, and the response header `x-mex-findings` contains their
   * number.
   */
  findings: Finding[];
  /** Runs a job in a worker thread. Callers take turns, and the job's time counts toward the caller's rate limit. */
  compute<J extends JobName>(job: J, input: Input<J>): Promise<Output<J>>;
  /**
   * Calls `wait`, and meanwhile frees the request's slot and suspends its deadline. `gone` is aborted when the caller
   * disconnects.
   */
  waitAside(wait: (gone: AbortSignal) => Promise<void>): Promise<void>;
}

/** The function that runs an operation. See routes.ts in the contract package for its request and response types. */
export type Handler<O extends Operation> = (
  exchange: Exchange,
  call: Call,
  request: RequestOf<O>,
) => Promise<['watchChanges'] extends [O] ? Watch : ResponseOf<O>>;

export function authorOf(call: Call): Author {
  return { actor: call.principal.name, requestId: call.requestId, findings: call.findings };
}
