import { COMPUTATION_STATES, type RequestOf, type ResponseOf } from '@measurement-exchange/contract';
import { listComputations as list } from '../../database/computations.ts';
import { partyName } from '../../domain/access.ts';
import type { Call, Exchange } from '../context.ts';
import { DEFAULT_PAGE_SIZE, type ListScope, MAX_PAGE_BYTES } from '../paging.ts';
import { viewComputation } from './view.ts';

/** By update time: one that changes meanwhile moves on and is not missed. */
export async function listComputations(
  exchange: Exchange,
  _call: Call,
  { params, query }: RequestOf<'listComputations'>,
): Promise<ResponseOf<'listComputations'>> {
  const duchy = partyName('duchy', params.duchy);
  const updatedAfter = query['filter.updatedAfter'];
  const states = [...(query['filter.states'] ?? COMPUTATION_STATES)].sort();
  const scope: ListScope = ['listComputations', duchy, states, updatedAfter];
  const { items, more } = await list(exchange.db, {
    duchy,
    states: [...new Set(states)],
    updatedAfter: updatedAfter ?? '-infinity',
    after: exchange.pageTokens.read(scope, query.pageToken),
    limit: query.pageSize ?? DEFAULT_PAGE_SIZE,
    maxBytes: MAX_PAGE_BYTES,
  });
  const last = items.at(-1)?.aggregate;
  return {
    computations: items.map((item) => viewComputation(item, duchy)),
    nextPageToken: more
      ? exchange.pageTokens.write(scope, {
          time: last!.participants[0]!.updateTime,
          id: last!.measurement.id,
        })
      : undefined,
  };
}
