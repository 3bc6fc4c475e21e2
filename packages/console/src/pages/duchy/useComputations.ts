import type { ComputationState } from '@measurement-exchange/contract';
import { usePages } from '../../live/usePages.ts';
import { rowOf } from './computations.ts';

export function useComputations(pageSize: number, state?: ComputationState) {
  return usePages('computations', [pageSize, state], async ({ client, principal }, page) => {
    const { computations, nextPageToken } = await client
      .listComputations({
        parent: principal,
        pageSize,
        orderBy: 'updateTime desc',
        ...(state && { 'filter.states': [state] }),
        ...page,
      })
      .page();
    return { rows: computations.map(rowOf), nextPageToken };
  });
}
