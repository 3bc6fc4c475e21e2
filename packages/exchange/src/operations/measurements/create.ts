import { nonceMatches } from '@measurement-exchange/consent';
import { canonicalJson, MeasurementInput, type RequestOf } from '@measurement-exchange/contract';
import { telemetry } from '@measurement-exchange/server/telemetry';
import { insertMeasurement } from '../../database/writeMeasurements.ts';
import { partyName } from '../../domain/access.ts';
import { measurementName } from '../../domain/aggregate.ts';
import { decideMeasurement, draftMeasurement } from '../../domain/newMeasurement.ts';
import { authorOf, type Handler } from '../context.ts';
import { contentHash, idempotently, requireSameContent } from '../idempotency.ts';
import { mutate } from '../mutate.ts';
import { readMeasurement } from './get.ts';
import { loadForDraft } from './load.ts';
import { viewMeasurement } from './view.ts';

export const createMeasurement: Handler<'createMeasurement'> = async (exchange, call, request) => {
  const { openMeasurements, protocols, duchyOperators } = exchange;
  const consumer = partyName('measurementConsumer', request.params.measurementConsumer);
  const draft = draftMeasurement(consumer, request.body, await wrongNonces(request.body), protocols);
  const key = requestKeyOf(request);
  // A validateOnly request creates no measurement, so it does not count toward the limit.
  using place = request.validateOnly ? undefined : await openMeasurements.take(consumer);
  const reachedLimit = place === undefined && !request.validateOnly ? openMeasurements.limit : undefined;
  return await idempotently('measurements_request_id', () =>
    mutate('createMeasurement', exchange, call, request, async (tx) => {
      const loaded = await loadForDraft(tx, draft, request.requestId, exchange.clock);
      if (loaded.earlier !== undefined) {
        const { earlier } = loaded;
        requireSameContent(earlier.hash, key!.hash, key!.id, measurementName({ consumer, id: earlier.id }));
        const existing = await readMeasurement(tx, consumer, earlier.id);
        return { view: () => existing };
      }
      const ids = Array.from({ length: draft.dataProviders.length + 1 }, exchange.newId);
      const known = { reachedLimit, ids, duchyOperators, traceparent: telemetry?.traceparent() };
      const { findings, change } = decideMeasurement(draft, { ...loaded, ...known }, loaded.now);
      return {
        findings,
        save: () => insertMeasurement(tx, change, key, authorOf(call)),
        view: () => viewMeasurement(change.after),
      };
    }),
  );
};

async function wrongNonces({ dataProviders }: MeasurementInput): Promise<Set<string>> {
  const wrong = new Set<string>();
  for (const [name, { encryptedRequisitionSpec, nonceHash }] of Object.entries(dataProviders)) {
    const { nonce } = encryptedRequisitionSpec;
    if (nonce !== undefined && !(await nonceMatches(nonce, nonceHash))) wrong.add(name);
  }
  return wrong;
}

/**
 * The hash omits the protocol. If a client reads a measurement and creates it again, its request has the protocol that
 * the exchange chose, not the protocol of the first request.
 */
function requestKeyOf({ requestId, body }: RequestOf<'createMeasurement'>) {
  if (requestId === undefined) return undefined;
  const { protocolConfig: _wish, ...content } = body;
  return { id: requestId, hash: contentHash(canonicalJson(MeasurementInput, content)) };
}
