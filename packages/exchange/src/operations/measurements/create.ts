import { invalid, type Violation } from '@measurement-exchange/contract';
import { partyOf } from '../../domain/access.ts';
import type { Handler } from '../context.ts';
import { createMeasurements } from './write.ts';

export const createMeasurement: Handler<'createMeasurement'> = async (exchange, call, request) => {
  const parts = [{ at: '', input: request.body, requestId: request.requestId }];
  const [created] = await createMeasurements('createMeasurement', exchange, call, request, parts);
  return created!;
};

export const batchCreateMeasurements: Handler<'batchCreateMeasurements'> = async (
  exchange,
  call,
  request,
) => {
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

  const parts = requests.map(({ measurement, requestId }, i) => ({
    at: `requests[${i}].measurement.`,
    input: measurement,
    requestId,
  }));
  const operation = 'batchCreateMeasurements';
  return { measurements: await createMeasurements(operation, exchange, call, request, parts) };
};
