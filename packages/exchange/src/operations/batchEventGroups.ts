/** Batches of event groups: up to 50, all or nothing, answered in the order of the request. */
import {
  type EventGroupInput,
  invalid,
  parseName,
  type RequestOf,
  type ResponseOf,
  type Violation,
} from '@measurement-exchange/contract';
import { partyName } from '../domain/access.ts';
import type { Call, Exchange } from './context.ts';
import { createEventGroups, updateEventGroups } from './writeEventGroups.ts';

export async function batchCreateEventGroups(
  x: Exchange,
  call: Call,
  { params, body, validateOnly }: RequestOf<'batchCreateEventGroups'>,
): Promise<ResponseOf<'batchCreateEventGroups'>> {
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
  return { eventGroups: await createEventGroups(x, call, { operation, provider, parts, validateOnly }) };
}

export async function batchUpdateEventGroups(
  x: Exchange,
  call: Call,
  { params, body, validateOnly }: RequestOf<'batchUpdateEventGroups'>,
): Promise<ResponseOf<'batchUpdateEventGroups'>> {
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
  return { eventGroups: await updateEventGroups(x, call, { operation, provider, parts, validateOnly }) };
}
