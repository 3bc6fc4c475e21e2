import { listPopulations as list } from '../../database/populations.ts';
import type { Handler } from '../context.ts';
import { byCreation, MAX_PAGE_BYTES } from '../paging.ts';
import { viewPopulation } from './view.ts';

export const listPopulations: Handler<'listPopulations'> = async (exchange, _call, { query }) => {
  const page = exchange.pageTokens.page(['listPopulations', ''], query);
  const { items, more } = await list(exchange.db, page.after, page.limit, MAX_PAGE_BYTES);
  return {
    populations: items.map(viewPopulation),
    nextPageToken: page.next(more, items, byCreation),
  };
};
