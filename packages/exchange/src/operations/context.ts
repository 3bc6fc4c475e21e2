import type { Finding, Protocol, Timestamp } from '@measurement-exchange/contract';
import type { Database, Transaction } from '../database/db.ts';
import { audit } from '../database/log.ts';
import type { Author } from '../database/writeMeasurements.ts';
import type { Principal } from '../domain/access.ts';
import type { Checks } from '../domain/findings.ts';
import type { PageTokens } from './paging.ts';

/** What every operation is given of the running exchange. */
export interface Exchange {
  db: Database;
  clock: () => Timestamp;
  newId: () => string;
  checks: Checks;
  /** Multi-party protocols that are switched on. */
  protocols: ReadonlySet<Protocol>;
  pageTokens: PageTokens;
  /** After a change to parties or bindings: this replica sees it at once, the others within 30 s. */
  principalsChanged: () => void;
  /** Work for the background, which would find it by itself a second later. */
  wake: () => void;
}

/** One call: who makes it, and what came up that its answer does not say. */
export interface Call {
  principal: Principal;
  issuer: string;
  subject: string;
  /** Finds the log line. */
  requestId: string;
  /** Filled by the operation; counted in the `x-mex-findings` header and logged. */
  findings: Finding[];
  /** Has the answer written now, while the database commits; one that is not is written when the operation is done. */
  answer<T>(resource: T): T;
}

export function author(call: Call): Author {
  return { actor: call.principal.name, requestId: call.requestId, findings: call.findings };
}

/** A mutation outside the transition log, for the audit: which version of what it made, and when. */
export function record(
  tx: Transaction,
  call: Call,
  operation: string,
  made: { name: string; version: number; time: Timestamp },
): void {
  audit(tx, { ...made, operation, principal: call.principal.name, requestId: call.requestId });
}
