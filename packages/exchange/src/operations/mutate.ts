/**
 * Runs every operation that writes. In a transaction, the operation loads rows and decides on a change. Then `mutate`
 * rejects the request if the findings demand it, sends the writes and audit entries, and builds the response during the
 * commit.
 */
import type { Finding, Operation, Timestamp } from '@measurement-exchange/contract';
import type { Transaction } from '../database/db.ts';
import { audit } from '../database/log.ts';
import { enforce } from '../domain/findings.ts';
import type { Call, Exchange } from './context.ts';

export interface Decision<Resource> {
  findings?: Finding[];
  /** The findings that can reject the request if checks are `strict`. The default is all findings. */
  rejecting?: Finding[];
  /** Sends the writes. Undefined if nothing changes. */
  save?: (() => void | Promise<void>) | undefined;
  /**
   * True if a `validateOnly` request must write and roll back, because only a write can detect that the resource
   * already exists.
   */
  savesToValidate?: boolean;
  /** New versions for the audit log. Omitted for changes to measurements, which the transition log records. */
  versions?: Version[];
  view: () => Resource;
  /**
   * The response to a `validateOnly` request. The default is the result of `view` without the name, etag, and times.
   */
  viewValidated?: () => Resource;
}

export interface Version {
  name: string;
  version: number;
  time: Timestamp;
}

export function mutate<Resource extends object>(
  operation: Operation,
  exchange: Exchange,
  call: Call,
  { validateOnly }: { validateOnly: boolean },
  decide: (tx: Transaction) => Promise<Decision<Resource>>,
): Promise<Resource> {
  return exchange.db.tx(operation, async (tx) => {
    const decision = await decide(tx);
    const { findings = [], rejecting = findings, save, versions = [], view } = decision;
    call.findings = findings;
    if (validateOnly) {
      if (decision.savesToValidate) await save?.();
      tx.rollback();
      return decision.viewValidated?.() ?? asValidated(view(), findings);
    }
    enforce(exchange.checks, rejecting);
    if (save === undefined) {
      tx.rollback();
      return view();
    }
    await save();
    for (const version of versions) {
      audit(tx, { ...version, operation, principal: call.principal.name, requestId: call.requestId });
    }
    tx.commit();
    return view();
  });
}

/** Delete operations use this as `save`, because `decide` has already sent the DELETE to get the deleted row. */
export function alreadySent(): void {}

export function asValidated<Resource extends object>(resource: Resource, findings: Finding[]): Resource {
  return {
    ...resource,
    name: undefined,
    etag: undefined,
    createTime: undefined,
    updateTime: undefined,
    findings,
  };
}
