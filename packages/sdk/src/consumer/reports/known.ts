/**
 * Finds the measurements that already answer a need. They come from all of the consumer's reports, and from the caller
 * (see `adopt`).
 */
import { ExchangeError, isTerminal, type Measurement, type Report } from '@measurement-exchange/contract';
import { keyOf } from '@measurement-exchange/reports';
import type { Dependencies } from '../deps.ts';
import { openQuestion } from '../question.ts';
import { exchangeKeys, type ReportKeys } from './keys.ts';
import { needsIn } from './requests.ts';

export class Known {
  private readonly deps: Dependencies;
  private readonly keys: ReportKeys;
  /**
   * Maps each key under which the exchange stores a need to the names of the need's measurements, in the order in which
   * they were recorded.
   */
  private readonly names = new Map<string, string[]>();
  /** Maps each need's key (see `keyOf`) to the names of the measurements for this need that were passed to `adopt`. */
  private readonly adopted = new Map<string, string[]>();
  private readonly read = new Map<string, Promise<Measurement | undefined>>();

  private constructor(deps: Dependencies, keys: ReportKeys) {
    this.deps = deps;
    this.keys = keys;
  }

  /**
   * Reads all reports of the consumer. A measurement of any report may already answer a need (a value that a report
   * requires).
   */
  static async of(deps: Dependencies, keys: ReportKeys): Promise<Known> {
    const { client, credentials, signal } = deps;
    const known = new Known(deps, keys);
    const reports = await Array.fromAsync(client.listReports({ parent: credentials.name, signal }));
    // Reverse the list, because the newest report comes first, but `names` must be in the order in which measurements
    // were recorded.
    for (const report of reports.reverse()) known.add(report);
    return known;
  }

  private add({ measurements = [] }: Report): void {
    for (const { key, measurement } of measurements) {
      const names = this.names.get(key) ?? [];
      if (!names.includes(measurement)) this.names.set(key, [...names, measurement]);
    }
  }

  get isEmpty(): boolean {
    return this.names.size + this.adopted.size === 0;
  }

  /**
   * Adds measurements that no report contains. Each measurement can answer the needs (values that a report requires)
   * that its stored request asks for.
   */
  async adopt(names: readonly string[]): Promise<void> {
    for (const name of names) {
      const measurement = await this.measurement(name);
      const question = measurement && (await openQuestion(this.deps, measurement));
      for (const need of question === undefined ? [] : needsIn(question)) {
        const key = await keyOf(need);
        this.adopted.set(key, [...(this.adopted.get(key) ?? []), name]);
      }
    }
  }

  /**
   * Returns a need's measurements: first the adopted measurements, and then the measurements from reports, in the order
   * of the attempts to answer the need. `key` is the key that `keyOf` returns for the need.
   */
  async measurements(key: string): Promise<Measurement[]> {
    const names = new Set<string>(this.adopted.get(key));
    for (let attempt = 0; ; attempt++) {
      const keys = await exchangeKeys(this.keys, key, attempt);
      const found = keys.flatMap((name) => this.names.get(name) ?? []);
      if (found.length === 0) break;
      for (const name of found) names.add(name);
    }
    const read = await Promise.all([...names].map((name) => this.measurement(name)));
    return read.filter((measurement) => measurement !== undefined);
  }

  /**
   * Returns the measurement for a need: the last one that succeeded and still has its results, or else the last one
   * that is still pending.
   */
  async answer(key: string): Promise<Measurement | undefined> {
    const all = await this.measurements(key);
    const succeeded = all.filter(({ state, results }) => state === 'SUCCEEDED' && results !== undefined);
    return succeeded.at(-1) ?? all.filter(({ state }) => !isTerminal(state)).at(-1);
  }

  /** Reads a measurement. Returns undefined if the measurement no longer exists. */
  private measurement(name: string): Promise<Measurement | undefined> {
    const { client, signal } = this.deps;
    const known =
      this.read.get(name) ??
      client.getMeasurement({ name, signal }).catch((error: unknown) => {
        if (!(error instanceof ExchangeError && error.code === 'NOT_FOUND')) throw error;
        return undefined;
      });
    this.read.set(name, known);
    return known;
  }
}
