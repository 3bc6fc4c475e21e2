import { type RequestOf, type Timeline, WILDCARD } from '@measurement-exchange/contract';
import { transitionsOfRequisition } from '../../database/log.ts';
import { partyName } from '../../domain/access.ts';
import type { Call, Exchange } from '../context.ts';
import { viewTransition } from '../measurements/timeline.ts';
import { viewTombstone } from './view.ts';

/** A provider sees its own part, and not which other provider's refusal withdrew it. */
export async function getRequisitionTimeline(
  exchange: Exchange,
  _call: Call,
  { params }: RequestOf<'getRequisitionTimeline'>,
): Promise<Timeline> {
  const provider = partyName('dataProvider', params.dataProvider);
  const name = `${provider}/requisitions/${params.requisition}`;
  const rows = await transitionsOfRequisition(exchange.db, provider, params.requisition);
  // The log of a removed requisition was removed with it: only fails where there is no tombstone either.
  if (rows.length === 0) await viewTombstone(exchange, name, { provider }, params.requisition);
  const isRival = (actor: string) => actor.startsWith('dataProviders/') && actor !== provider;
  return {
    transitions: rows.map((row) => ({
      ...viewTransition(row, name),
      actor: isRival(row.actor) ? partyName('dataProvider', WILDCARD) : row.actor,
    })),
  };
}
