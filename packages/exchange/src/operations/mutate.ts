/**
 * The frame of every mutation. In one named transaction the operation loads rows and decides; then findings are enforced,
 * the writes and audit entries are sent, and the response is built while the database commits.
 */
import type { Finding, Operation, Timestamp } from '@measurement-exchange/contract';
import type { Transaction } from '../database/db.ts';
import { audit } from '../database/log.ts';
import { enforce } from '../domain/findings.ts';
import type { Call, Exchange } from './context.ts';

export interface Decision<Resource> {
  findings?: Finding[];
  /** The findings that can reject the request under strict checks. By default, all of them can. */
  rejecting?: Finding[];
  /** Sends the writes; undefined if nothing changes. */
  save?: (() => void | Promise<void>) | undefined;
  /** Whether `validateOnly` sends the writes and rolls back, because only the write shows that a resource exists. */
  savesToValidate?: boolean;
  /** The versions for the audit log. Changes of measurements have none, since the transition log has them. */
  versions?: Version[];
  view: () => Resource;
  /** The response to `validateOnly`; by default the view without the fields that only a write sets. */
  viewValidated?: () => Resource;
}

/** A version of a resource, and the time of its write. */
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

/** The `save` of a delete. The DELETE was already sent, because it also returns the deleted row. */
export function alreadySent(): void {}

/** The resource as it would be created or changed, without the fields that only a write sets. */
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
