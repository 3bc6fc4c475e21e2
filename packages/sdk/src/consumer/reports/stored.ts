/** Stores reports at the exchange, encrypted and authenticated for this consumer, and reads them back. */
import {
  ExchangeError,
  MAX_REPORT_ANSWER_BYTES,
  MAX_REPORT_DEFINITION_BYTES,
  type Report as ReportResource,
  type ReportState,
} from '@measurement-exchange/contract';
import {
  DefinitionError,
  type ReportDefinition,
  type ReportDocument,
  readDefinition,
} from '@measurement-exchange/reports';
import { retryOnAborted } from '../../client/index.ts';
import type { Dependencies } from '../deps.ts';
import { exchangeKey, hex, type ReportKeys } from './keys.ts';
import { ReportRejected, seal, unseal } from './sealed.ts';

/** A report from the exchange, with its definition decrypted. */
export interface StoredReport {
  name: string;
  definition: ReportDefinition;
  state: ReportState;
  /**
   * Maps keys to the names of measurements. Each key identifies one attempt to measure a need (a value that the report
   * requires). `exchangeKey` computes these keys from the `key` of the need.
   */
  measurements: ReadonlyMap<string, string>;
  etag: string;
  createTime: string;
  updateTime: string;
}

/** A listed report that cannot be used, because its definition cannot be decrypted or is invalid. */
export interface UnreadableReport {
  name: string;
  state: ReportState;
  definition?: never;
  error: ReportRejected;
}

/** The decrypted answer that is stored with a report. */
export interface StoredAnswer {
  document: ReportDocument;
}

export class StoredReports {
  private readonly deps: Dependencies;
  private readonly keys: ReportKeys;

  constructor(deps: Dependencies, keys: ReportKeys) {
    this.deps = deps;
    this.keys = keys;
  }

  /**
   * Stores the definition. The report's ID is derived from the definition, so a second call returns the same report. A
   * deleted report's ID cannot be used again, so the next ID is tried.
   */
  async create(definition: ReportDefinition): Promise<StoredReport> {
    const { client, credentials, signal } = this.deps;
    const text = JSON.stringify(definition);
    const definitionHash = await this.keys.of('definition', text);
    for (let i = 0; ; i++) {
      const reportId = `r-${hex(await this.keys.of('report', text, String(i))).slice(0, 32)}`;
      const name = `${credentials.name}/reports/${reportId}`;
      const sealedDefinition = await seal(this.deps, this.keys, ['ReportDefinition', name], definition);
      requireShort(sealedDefinition.ciphertext);
      try {
        const body = { definitionHash, sealedDefinition };
        return await this.opened(
          await client.createReport({ parent: credentials.name, reportId, body, signal }),
        );
      } catch (error) {
        if (!isReason(error, 'REPORT_ALREADY_EXISTS')) throw error;
      }
      const existing = await this.get(name).catch((error: unknown) => {
        if (!isReason(error, 'REPORT_NOT_FOUND')) throw error;
      });
      if (existing !== undefined) return existing;
    }
  }

  async get(name: string): Promise<StoredReport> {
    return this.opened(await this.resource(name));
  }

  async *list(): AsyncGenerator<StoredReport | UnreadableReport> {
    const { client, credentials, signal } = this.deps;
    for await (const resource of client.listReports({ parent: credentials.name, signal })) {
      try {
        yield await this.opened(resource);
      } catch (error) {
        if (!(error instanceof ReportRejected)) throw error;
        yield { name: resource.name!, state: resource.state, error };
      }
    }
  }

  /**
   * Records which measurement belongs to which need (a value that the report requires). `key` is the key that `keyOf`
   * returns for the need. The report at the exchange contains the key that `exchangeKey` computes from `key`.
   */
  async record(name: string, measurements: readonly { key: string; measurement: string }[]): Promise<void> {
    if (measurements.length === 0) return;
    await this.change(name, async ({ measurements: recorded = [] }) => {
      const known = new Map(recorded.map(({ key, measurement }) => [key, measurement]));
      const added: typeof recorded = [];
      for (const { key, measurement } of measurements) {
        let attempt = 0;
        let free = await exchangeKey(this.keys, key, attempt);
        while (known.has(free) && known.get(free) !== measurement) {
          free = await exchangeKey(this.keys, key, ++attempt);
        }
        if (!known.has(free)) added.push({ key: free, measurement });
      }
      return added.length > 0 ? { measurements: added } : undefined;
    });
  }

  /** Stores the answer. An answer that is too long is not stored, because it can be computed again. */
  async storeAnswer(name: string, answer: StoredAnswer): Promise<void> {
    const sealedAnswer = await seal(this.deps, this.keys, ['ReportAnswer', name], answer);
    if (sealedAnswer.ciphertext.length > MAX_REPORT_ANSWER_BYTES) return;
    await this.change(name, async () => ({ sealedAnswer }));
  }

  async answer(name: string): Promise<StoredAnswer | undefined> {
    const { sealedAnswer } = await this.resource(name);
    if (sealedAnswer === undefined) return undefined;
    return (await unseal(this.deps, this.keys, ['ReportAnswer', name], sealedAnswer)) as StoredAnswer;
  }

  private resource(name: string): Promise<ReportResource> {
    return this.deps.client.getReport({ name, signal: this.deps.signal });
  }

  private async change(
    name: string,
    changesOf: (
      fresh: ReportResource,
    ) => Promise<Pick<ReportResource, 'measurements' | 'sealedAnswer'> | undefined>,
  ): Promise<void> {
    const { client, signal, clock } = this.deps;
    await retryOnAborted(
      () => this.resource(name),
      async (fresh) => {
        const changes = await changesOf(fresh);
        if (changes === undefined) return;
        await client.updateReport({ name, body: { etag: fresh.etag!, ...changes }, signal });
      },
      { clock, signal },
    );
  }

  private async opened(resource: ReportResource): Promise<StoredReport> {
    const { name, state, measurements = [], etag, createTime, updateTime } = resource;
    return {
      ...{ name: name!, definition: await this.definitionOf(resource), state },
      measurements: new Map(measurements.map(({ key, measurement }) => [key, measurement])),
      ...{ etag: etag!, createTime: createTime!, updateTime: updateTime! },
    };
  }

  /** Returns the report's definition. A definition that is not sealed was stored by another program of the consumer. */
  private async definitionOf({ name = '', definition, sealedDefinition }: ReportResource) {
    const json = sealedDefinition
      ? await unseal(this.deps, this.keys, ['ReportDefinition', name], sealedDefinition)
      : parsed(name, definition);
    const read = readDefinition(json);
    if (read.definition) return read.definition;
    const { message } = new DefinitionError(read.problems);
    throw new ReportRejected(name, 'REPORT_MALFORMED', `its definition cannot be used: ${message}`);
  }
}

function parsed(name: string, text = ''): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ReportRejected(name, 'REPORT_MALFORMED', 'its definition is not JSON', error);
  }
}

function requireShort({ length }: Uint8Array): void {
  if (length <= MAX_REPORT_DEFINITION_BYTES) return;
  throw new RangeError(
    `The definition is too long to store (${length} bytes sealed, at most ${MAX_REPORT_DEFINITION_BYTES}): ` +
      'name fewer event groups, or shorten the filters.',
  );
}

function isReason(error: unknown, reason: string): boolean {
  return error instanceof ExchangeError && error.reason === reason;
}
