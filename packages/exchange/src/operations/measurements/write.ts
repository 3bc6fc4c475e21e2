/** Creates measurements. Either all of them are written, or none. */
import { nonceMatches } from '@measurement-exchange/consent';
import {
  canonicalJson,
  ExchangeError,
  type Finding,
  invalid,
  type Measurement,
  MeasurementInput,
  type Operation,
} from '@measurement-exchange/contract';
import { telemetry } from '@measurement-exchange/server/telemetry';
import type { Transaction } from '../../database/db.ts';
import type { RequestKey } from '../../database/versions.ts';
import { insertMeasurement } from '../../database/writeMeasurements.ts';
import { partyOf } from '../../domain/access.ts';
import { type Change, measurementName } from '../../domain/aggregate.ts';
import { type Draft, draftMeasurement } from '../../domain/draft.ts';
import { decideMeasurement, noRoom } from '../../domain/newMeasurement.ts';
import type { Protocols } from '../../domain/protocolOptions.ts';
import { authorOf, type Call, type Exchange } from '../context.ts';
import { contentHash, idempotently, requireSameContent } from '../idempotency.ts';
import { asValidated, mutate } from '../mutate.ts';
import { readMeasurement } from './get.ts';
import { type Loaded, loadForDrafts } from './load.ts';
import { viewMeasurement } from './view.ts';

interface Part {
  /** The prefix of the paths of the measurement's fields in the request. */
  at: string;
  input: MeasurementInput;
  requestId: string | undefined;
}

interface DraftedPart {
  at: string;
  draft: Draft;
  key: RequestKey | undefined;
}

export async function createMeasurements(
  operation: Operation,
  exchange: Exchange,
  call: Call,
  request: { path: string; validateOnly: boolean },
  parts: Part[],
): Promise<Measurement[]> {
  const { openMeasurements } = exchange;
  const consumer = partyOf(request.path);
  const drafted = await draftAll(consumer, parts, exchange.protocols);
  using places = new DisposableStack();
  // A validateOnly request creates no measurement, so it does not count toward the limit.
  let room = request.validateOnly ? parts.length : 0;
  while (room < parts.length) {
    const place = await openMeasurements.take(consumer);
    if (place === undefined) break;
    places.use(place);
    room += 1;
  }
  // Allow one retry per measurement, because a concurrent request may create the resource for each request ID first.
  return await idempotently('measurements_request_id', parts.length, () =>
    mutate(operation, exchange, call, request, async (tx) => {
      const loaded = await loadForDrafts(tx, consumer, drafted, exchange.clock);
      const views = await earlierViews(tx, consumer, drafted, loaded);
      const fresh = drafted.filter((part) => !views.has(part));
      if (fresh.length > room) throw noRoom(consumer, openMeasurements.limit);
      const decided = new Map<DraftedPart, { findings: Finding[]; change: Change }>();
      for (const part of fresh) decided.set(part, await decide(exchange, part, loaded));

      for (const [part, { change }] of decided) views.set(part, viewMeasurement(change.after));
      // Insert in the order of request IDs. Batches with the same request IDs wait for each other, and different orders
      // would cause a deadlock.
      const ordered = fresh.toSorted((a, b) => compare(a.key?.id, b.key?.id));
      const save = () => {
        for (const part of ordered) {
          const { findings, change } = decided.get(part)!;
          insertMeasurement(tx, change, part.key, { ...authorOf(call), findings });
        }
      };
      return {
        findings: fresh.flatMap((part) => findingsAt(part.at, decided.get(part)!.findings)),
        save: fresh.length === 0 ? undefined : save,
        view: () => drafted.map((part) => views.get(part)!),
        viewValidated: () =>
          drafted.map((part) => asValidated(views.get(part)!, decided.get(part)?.findings ?? [])),
      };
    }),
  );
}

async function draftAll(consumer: string, parts: Part[], enabled: Protocols): Promise<DraftedPart[]> {
  const drafted: DraftedPart[] = [];
  const violations: ExchangeError['violations'] = [];
  for (const { at, input, requestId } of parts) {
    try {
      const draft = draftMeasurement(consumer, input, await wrongNonces(input), enabled);
      drafted.push({ at, draft, key: requestKeyOf(input, requestId) });
    } catch (error) {
      const located = locate(at, error);
      if (!(located instanceof ExchangeError) || located.violations.length === 0) throw located;
      violations.push(...located.violations);
    }
  }
  if (violations.length > 0) throw invalid(violations);
  return drafted;
}

async function wrongNonces({ dataProviders }: MeasurementInput): Promise<Set<string>> {
  const wrong = new Set<string>();
  for (const [name, { encryptedRequisitionSpec, nonceHash }] of Object.entries(dataProviders)) {
    const { nonce } = encryptedRequisitionSpec;
    if (nonce !== undefined && !(await nonceMatches(nonce, nonceHash))) wrong.add(name);
  }
  return wrong;
}

/**
 * The hash omits values that may differ when a client repeats the request through the other API: the algorithm of a
 * signature, the format of a key, and an empty measurementReferenceId. It also omits the protocol, because a
 * measurement that was read and is created again names the protocol that the exchange chose.
 */
function requestKeyOf(input: MeasurementInput, requestId: string | undefined): RequestKey | undefined {
  if (requestId === undefined) return undefined;
  const { protocolConfig: _wish, measurementReferenceId, measurementSpec, dataProviders, ...rest } = input;
  const { signatureAlgorithm: _algorithm, ...spec } = measurementSpec;
  const content: MeasurementInput = {
    ...rest,
    measurementReferenceId: measurementReferenceId || undefined,
    measurementSpec: spec,
    dataProviders: Object.fromEntries(
      Object.entries(dataProviders).map(([name, { dataProviderPublicKey, ...entry }]) => {
        const { format: _format, ...key } = dataProviderPublicKey;
        return [name, { ...entry, dataProviderPublicKey: key }];
      }),
    ),
  };
  return { id: requestId, hash: contentHash(canonicalJson(MeasurementInput, content)) };
}

/** The measurements that earlier requests with the same IDs created. */
async function earlierViews(
  tx: Transaction,
  consumer: string,
  drafted: DraftedPart[],
  { earlier }: Loaded,
): Promise<Map<DraftedPart, Measurement>> {
  const views = new Map<DraftedPart, Measurement>();
  await Promise.all(
    drafted.map(async (part) => {
      const { key } = part;
      const found = key && earlier.get(key.id);
      if (found === undefined) return;
      requireSameContent(found.hash, key!.hash, key!.id, measurementName({ consumer, id: found.id }));
      views.set(part, await readMeasurement(tx, consumer, found.id));
    }),
  );
  return views;
}

async function decide({ newId, duchyOperators }: Exchange, { at, draft }: DraftedPart, loaded: Loaded) {
  const facts = await loaded.factsOf(draft);
  const ids = Array.from({ length: draft.dataProviders.length + 1 }, newId);
  try {
    const known = { ids, duchyOperators, traceparent: telemetry?.traceparent() };
    return decideMeasurement(draft, { ...facts, ...known }, loaded.now);
  } catch (error) {
    throw locate(at, error);
  }
}

/** Prepends `at` to the paths of fields in an error about one measurement of a batch. */
function locate(at: string, error: unknown): unknown {
  if (at === '' || !(error instanceof ExchangeError)) return error;
  const { reason, message, metadata } = error;
  const field = at + (metadata.field ?? '');
  return new ExchangeError(reason, `${at.slice(0, -1)}: ${message}`, {
    ...error,
    metadata: { ...metadata, field: field.replace(/\.$/, '') },
    violations: error.violations.map((violation) => ({ ...violation, field: at + violation.field })),
    cause: error.cause,
  });
}

function findingsAt(at: string, findings: Finding[]): Finding[] {
  return at === '' ? findings : findings.map((finding) => ({ ...finding, field: at + finding.field }));
}

function compare(a = '', b = ''): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
