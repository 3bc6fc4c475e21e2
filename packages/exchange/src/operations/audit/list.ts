import type { RequestOf, ResponseOf } from '@measurement-exchange/contract';
import { listAudit } from '../../database/log.ts';
import type { Call, Exchange } from '../context.ts';
import { DEFAULT_PAGE_SIZE, type ListScope, START } from '../paging.ts';

/** In the order of transactions, and only as far as no earlier one can still commit: nothing is missed. */
export async function listAuditEntries(
  exchange: Exchange,
  _call: Call,
  { query }: RequestOf<'listAuditEntries'>,
): Promise<ResponseOf<'listAuditEntries'>> {
  const name = query['filter.name'];
  const scope: ListScope = ['listAuditEntries', '', name];
  const cursor = exchange.pageTokens.read(scope, query.pageToken);
  const after = cursor === START ? { xid: '0', seq: '0' } : { xid: cursor.time, seq: cursor.id };
  const { items, more } = await listAudit(exchange.db, name, after, query.pageSize ?? DEFAULT_PAGE_SIZE);
  const last = items.at(-1);
  return {
    auditEntries: items.map(({ entry: { time, principal, operation, name: resource, requestId } }) => ({
      time,
      principal,
      operation,
      name: resource,
      outcome: 'OK',
      requestId,
    })),
    nextPageToken: more
      ? exchange.pageTokens.write(scope, { time: last!.xid, id: String(last!.seq) })
      : undefined,
  };
}
