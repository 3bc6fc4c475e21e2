/**
 * Runs every operation that writes. In a transaction, the operation loads rows and decides what to change. Then `mutate`
 * rejects the request if its findings require that, sends the writes and audit entries, and builds the response while the
 * database commits.
 */
import type { Finding, Operation, Timestamp } from '@measurement-exchange/contract';
import type { Transaction } from '../database/db.ts';
import { audit } from '../database/log.ts';
import { enforce } from '../domain/findings.ts';
import type { Call, Exchange } from './context.ts';

export interface Decision<Resource> {
  findings?: Finding[];
  /** The findings that can reject the request if checks are `strict`. By default, these are all findings. */
  rejecting?: Finding[];
  /** Sends the writes. Undefined if nothing changes. */
  save?: (() => void | Promise<void>) | undefined;
  /**
   * Whether a `validateOnly` request sends the writes and rolls them back. This is needed if only a write can detect that
   * the resource already exists.
   */
  savesToValidate?: boolean;
  /**
   * The new versions to record in the audit log. Changes to measurements omit them, because the transition log records
   * these changes.
   */
  versions?: Version[];
  view: () => Resource;
  /** The response to a `validateOnly` request. By default, it is the result of `view` without the name, etag, and times. */
  viewValidated?: () => Resource;
}

/** A version of a resource, and when it was written. */
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

/**
 * The `save` function of delete operations. It does nothing, because `decide` already sent the DELETE to get the deleted
 * row.
 */
export function alreadySent(): void {}

/** Returns the response to a `validateOnly` request: the resource without the fields that only a write sets. */
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
