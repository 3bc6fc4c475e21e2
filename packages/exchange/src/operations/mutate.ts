/**
 * The common part of all mutations. In a named transaction, the operation loads rows and decides. Then the findings are
 * enforced, the writes and audit entries are sent, and the response is built while the database commits.
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
  /** Whether `validateOnly` sends the writes and rolls them back, because only a write can detect an existing resource. */
  savesToValidate?: boolean;
  /** The versions for the audit log. Changes to measurements have none, because they are in the transition log. */
  versions?: Version[];
  view: () => Resource;
  /** The response to `validateOnly`. By default, it is the view without the fields that only a write sets. */
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

/** The `save` function for deletes. The DELETE has already been sent, because it also returns the deleted row. */
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
