import { type EventGroupInput, invalid, parseName, type Violation } from '@measurement-exchange/contract';
import { partyOf } from '../../domain/access.ts';
import type { Handler } from '../context.ts';
import { updateEventGroups } from './write.ts';

export const updateEventGroup: Handler<'updateEventGroup'> = async (exchange, call, request) => {
  const parts = [{ at: '', input: request.body, id: request.params.eventGroup }];
  const [updated] = await updateEventGroups('updateEventGroup', exchange, call, request, parts);
  return updated!;
};

export const batchUpdateEventGroups: Handler<'batchUpdateEventGroups'> = async (exchange, call, request) => {
  const provider = partyOf(request.path);
  const violations: Violation[] = [];
  const seen = new Set<string>();
  const parts = request.body.requests.map(({ eventGroup: { name, ...input } }, i) => {
    const { eventGroup: id } = parseName('eventGroup', name)!;
    const field = `requests[${i}].eventGroup.name`;
    if (partyOf(name) !== provider) {
      violations.push({ field, description: `must be under ${provider}` });
    } else if (seen.has(id)) {
      violations.push({ field, description: 'is that of another request too' });
    }
    seen.add(id);
    return { at: `requests[${i}].eventGroup.`, input: input as EventGroupInput, id };
  });
  if (violations.length > 0) throw invalid(violations);

  return { eventGroups: await updateEventGroups('batchUpdateEventGroups', exchange, call, request, parts) };
};
