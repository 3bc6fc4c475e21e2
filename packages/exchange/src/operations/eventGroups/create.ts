import { invalid, type Violation } from '@measurement-exchange/contract';
import { partyName } from '../../domain/access.ts';
import type { Handler } from '../context.ts';
import { createEventGroups } from './write.ts';

export const createEventGroup: Handler<'createEventGroup'> = async (
  exchange,
  call,
  { params, body, requestId, validateOnly },
) => {
  const provider = partyName('dataProvider', params.dataProvider);
  const parts = [{ at: '', input: body, requestId }];
  const operation = 'createEventGroup';
  const [created] = await createEventGroups(exchange, call, { operation, provider, parts, validateOnly });
  return created!;
};

/** Up to 50: all or nothing, in the order of the request. */
export const batchCreateEventGroups: Handler<'batchCreateEventGroups'> = async (
  exchange,
  call,
  { params, body, validateOnly },
) => {
  const provider = partyName('dataProvider', params.dataProvider);
  const violations: Violation[] = [];
  const seen = new Set<string>();
  for (const [i, { parent, requestId }] of body.requests.entries()) {
    if (parent !== undefined && parent !== provider) {
      violations.push({ field: `requests[${i}].parent`, description: 'differs from the path' });
    }
    if (requestId === undefined) continue;
    if (seen.has(requestId)) {
      violations.push({ field: `requests[${i}].requestId`, description: 'is that of another request too' });
    }
    seen.add(requestId);
  }
  if (violations.length > 0) throw invalid(violations);

  const parts = body.requests.map(({ eventGroup, requestId }, i) => ({
    at: `requests[${i}].eventGroup.`,
    input: eventGroup,
    requestId,
  }));
  const operation = 'batchCreateEventGroups';
  return {
    eventGroups: await createEventGroups(exchange, call, { operation, provider, parts, validateOnly }),
  };
};
