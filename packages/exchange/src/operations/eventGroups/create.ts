import { invalid, type Violation } from '@measurement-exchange/contract';
import { partyOf } from '../../domain/access.ts';
import type { Handler } from '../context.ts';
import { createEventGroups } from './write.ts';

export const createEventGroup: Handler<'createEventGroup'> = async (exchange, call, request) => {
  const parts = [{ at: '', input: request.body, requestId: request.requestId }];
  const [created] = await createEventGroups('createEventGroup', exchange, call, request, parts);
  return created!;
};

export const batchCreateEventGroups: Handler<'batchCreateEventGroups'> = async (exchange, call, request) => {
  const { requests } = request.body;
  const violations: Violation[] = [];
  const seen = new Set<string>();
  for (const [i, { parent, requestId }] of requests.entries()) {
    if (parent !== undefined && parent !== partyOf(request.path)) {
      violations.push({ field: `requests[${i}].parent`, description: 'differs from the path' });
    }
    if (requestId === undefined) continue;
    if (seen.has(requestId)) {
      violations.push({ field: `requests[${i}].requestId`, description: 'is that of another request too' });
    }
    seen.add(requestId);
  }
  if (violations.length > 0) throw invalid(violations);

  const parts = requests.map(({ eventGroup, requestId }, i) => ({
    at: `requests[${i}].eventGroup.`,
    input: eventGroup,
    requestId,
  }));
  return { eventGroups: await createEventGroups('batchCreateEventGroups', exchange, call, request, parts) };
};
