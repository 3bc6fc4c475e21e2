import { invalid, type Measurement, type Operation, type Violation } from '@measurement-exchange/contract';
import { telemetry } from '@measurement-exchange/server/telemetry';
import { insertMeasurement } from '../../database/writeMeasurements.ts';
import { partyOf } from '../../domain/access.ts';
import { decideMeasurement, noRoom } from '../../domain/newMeasurement.ts';
import { authorOf, type Call, type Exchange, type Handler } from '../context.ts';
import { idempotently } from '../idempotency.ts';
import { asValidated, mutate } from '../mutate.ts';
import { loadParts } from './load.ts';
import { type DraftedPart, draftParts, located, type Part } from './parts.ts';
import { viewMeasurement } from './view.ts';

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

/** Creates measurements. Either all of them are written, or none. */
async function createMeasurements(
  operation: Operation,
  exchange: Exchange,
  call: Call,
  request: { path: string; validateOnly: boolean },
  parts: Part[],
): Promise<Measurement[]> {
  const { clock, newId, duchyOperators, openMeasurements } = exchange;
  const consumer = partyOf(request.path);
  const drafted = await draftParts(consumer, parts, exchange.protocols);
  // A validateOnly request creates no measurement, so it does not count toward the limit.
  const { validateOnly } = request;
  using places = await openMeasurements.takeUpTo(consumer, validateOnly ? 0 : parts.length);
  // Allow one retry per measurement: for each request ID, a concurrent request may create the measurement first.
  return await idempotently('measurements_request_id', parts.length, () =>
    mutate(operation, exchange, call, request, async (tx) => {
      const { now, loaded } = await loadParts(tx, consumer, drafted, clock);
      const missing = loaded.filter((part) => !('existing' in part)).length;
      if (!validateOnly && missing > places.count) throw noRoom(consumer, openMeasurements.limit);

      const known = { duchyOperators, traceparent: telemetry?.traceparent() };
      const decided = loaded.map((part) => {
        if ('existing' in part) return { ...part, findings: [] };
        const { at, draft } = part;
        const ids = Array.from({ length: draft.dataProviders.length + 1 }, newId);
        const facts = { ...part.facts, ...known, ids };
        return { ...part, ...located(at, () => decideMeasurement(draft, facts, now)) };
      });
      const created = decided.filter((part) => 'change' in part);
      const viewOf = (part: (typeof decided)[number]) =>
        'change' in part ? viewMeasurement(part.change.after) : part.existing;
      const save = () => {
        for (const { change, key, findings } of created.toSorted(byRequestId)) {
          insertMeasurement(tx, change, key, { ...authorOf(call), findings });
        }
      };
      return {
        findings: created.flatMap(({ at, findings }) =>
          findings.map((finding) => ({ ...finding, field: at + finding.field })),
        ),
        save: created.length === 0 ? undefined : save,
        view: () => decided.map(viewOf),
        viewValidated: () => decided.map((part) => asValidated(viewOf(part), part.findings)),
      };
    }),
  );
}

/**
 * Orders inserts by request ID. Batches with the same request IDs wait for each other, and different orders would cause
 * a deadlock.
 */
function byRequestId({ key: a }: DraftedPart, { key: b }: DraftedPart): number {
  const [left = '', right = ''] = [a?.id, b?.id];
  return left < right ? -1 : left > right ? 1 : 0;
}
