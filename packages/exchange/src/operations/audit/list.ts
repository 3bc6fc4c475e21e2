import { listAudit, listLatestAudit } from '../../database/log.ts';
import type { Handler } from '../context.ts';
import { START } from '../paging.ts';

const FIRST = { xid: '0', seq: '0' };
const LAST = { xid: String(2n ** 64n - 1n), seq: '0' };

/**
 * Lists only audit entries of transactions that began before the oldest running transaction. Otherwise, a reader could
 * read later entries first, and then miss the entries that the oldest running transaction still adds.
 */
export const listAuditEntries: Handler<'listAuditEntries'> = async (exchange, _call, { query }) => {
  const { 'filter.name': name, orderBy = 'time' } = query;
  const page = exchange.pageTokens.page(['listAuditEntries', '', name, orderBy], query);
  const [list, start] =
    orderBy === 'time desc' ? ([listLatestAudit, LAST] as const) : ([listAudit, FIRST] as const);
  const after = page.after === START ? start : { xid: page.after.time, seq: page.after.id };
  const { items, more } = await list(exchange.db, name, after, page.limit);
  return {
    auditEntries: items.map(({ entry: { version: _, ...entry } }) => ({ ...entry, outcome: 'OK' })),
    nextPageToken: page.next(more, items, ({ xid, seq }) => ({ time: xid, id: String(seq) })),
  };
};
