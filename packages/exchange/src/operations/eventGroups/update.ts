import { type EventGroupInput, invalid, parseName, type Violation } from '@measurement-exchange/contract';
import { partyName } from '../../domain/access.ts';
import type { Handler } from '../context.ts';
import { updateEventGroups } from './write.ts';

export const updateEventGroup: Handler<'updateEventGroup'> = async (
  exchange,
  call,
  { params, body, validateOnly },
) => {
  const provider = partyName('dataProvider', params.dataProvider);
  const parts = [{ at: '', input: body, id: params.eventGroup }];
  const operation = 'updateEventGroup';
  const [updated] = await updateEventGroups(exchange, call, { operation, provider, parts, validateOnly });
  return updated!;
};

/** Up to 50: all or nothing, in the order of the request. */
export const batchUpdateEventGroups: Handler<'batchUpdateEventGroups'> = async (
  exchange,
  call,
  { params, body, validateOnly },
) => {
  const provider = partyName('dataProvider', params.dataProvider);
  const violations: Violation[] = [];
  const seen = new Set<string>();
  const parts = body.requests.map(({ eventGroup: { name, ...input } }, i) => {
    const { dataProvider, eventGroup: id } = parseName('eventGroup', name)!;
    const field = `requests[${i}].eventGroup.name`;
    if (dataProvider !== params.dataProvider) {
      violations.push({ field, description: `must be under ${provider}` });
    } else if (seen.has(id)) {
      violations.push({ field, description: 'is that of another request too' });
    }
    seen.add(id);
    return { at: `requests[${i}].eventGroup.`, input: input as EventGroupInput, id };
  });
  if (violations.length > 0) throw invalid(violations);

  const operation = 'batchUpdateEventGroups';
  return {
    eventGroups: await updateEventGroups(exchange, call, { operation, provider, parts, validateOnly }),
  };
};
