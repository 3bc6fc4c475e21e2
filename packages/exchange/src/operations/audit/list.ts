import { listAudit } from '../../database/log.ts';
import type { Handler } from '../context.ts';
import { START } from '../paging.ts';

/**
 * Lists audit entries by transaction ID. The list stops before the oldest running transaction, because readers who continue
 * from a later position would miss entries that this transaction still adds.
 */
export const listAuditEntries: Handler<'listAuditEntries'> = async (exchange, _call, { query }) => {
  const name = query['filter.name'];
  const page = exchange.pageTokens.page(['listAuditEntries', '', name], query);
  const after = page.after === START ? { xid: '0', seq: '0' } : { xid: page.after.time, seq: page.after.id };
  const { items, more } = await listAudit(exchange.db, name, after, page.limit);
  return {
    auditEntries: items.map(({ entry: { version: _, ...entry } }) => ({ ...entry, outcome: 'OK' })),
    nextPageToken: page.next(more, items, ({ xid, seq }) => ({ time: xid, id: String(seq) })),
  };
};
