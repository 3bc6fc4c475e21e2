/**
 * Runs every operation that writes. In a transaction, the operation loads rows and decides what to change. Then `mutate`
 * enforces the findings, sends the writes and audit entries, and builds the response while the database commits.
 */
import type { Finding, Operation, Timestamp } from '@measurement-exchange/contract';
import type { Transaction } from '../database/db.ts';
import { audit } from '../database/log.ts';
import { enforce } from '../domain/findings.ts';
import type { Call, Exchange } from './context.ts';

export interface Decision<Resource> {
  findings?: Finding[];
  /** The findings that can reject the request under `strict`. By default, all findings can. */
  rejecting?: Finding[];
  /** Sends the writes. Undefined if nothing changes. */
  save?: (() => void | Promise<void>) | undefined;
  /**
   * Whether a `validateOnly` request sends the writes and rolls them back. This is needed if only a write can detect that
   * the resource already exists.
   */
  savesToValidate?: boolean;
  /** The versions for the audit log. Measurements omit them, because their changes are in the transition log. */
  versions?: Version[];
  view: () => Resource;
  /** The response to a `validateOnly` request. By default, it is the view without the fields that only a write sets. */
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

/** Returns the resource as it would be created or changed, without the fields that only a write sets. */
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
