/** Plans, runs and opens the reports of a consumer. A run continues after the call that started it has returned. */
import {
  type OpenedDefinition,
  type OpenedReport,
  type PlannedReportView,
  type ReportFormat,
  VERIFIED_MS,
} from '@measurement-exchange/console/companion';
import {
  measurementView,
  type ProgressView,
  planView,
  type ReportView,
  reportView,
} from '@measurement-exchange/console/reports';
import {
  PlanError,
  type ReportDefinition,
  readDefinition,
  requireDefinition,
} from '@measurement-exchange/reports';
import {
  type Consumer,
  type ReportAnswer,
  type ReportProgress,
  ReportRejected,
} from '@measurement-exchange/sdk';
import { LRUCache } from 'lru-cache';
import { exported } from './exported.ts';
import { failureOf } from './failure.ts';

interface Run {
  isRunning: boolean;
  progress?: ProgressView;
  error?: string;
}

const CACHED = { max: 50, ttl: VERIFIED_MS };

export class CompanionReports {
  private readonly reports: Consumer['reports'];
  private readonly signal: AbortSignal | undefined;
  private readonly runs = new Map<string, Run>();
  private readonly answers = new LRUCache<string, ReportAnswer>(CACHED);
  /** Decrypted definitions, cached because the definition of a report never changes. */
  private readonly opened = new LRUCache<string, ReportDefinition>({ max: 1000 });

  /**
   * Aborting the signal ends all runs. Measurements that were already created continue, and the next run waits for
   * them.
   */
  constructor(consumer: Consumer, signal: AbortSignal | undefined) {
    this.reports = consumer.reports;
    this.signal = signal;
  }

  async plan(json: unknown): Promise<PlannedReportView> {
    const { definition, problems } = readDefinition(json);
    if (problems) return { problems };
    try {
      const { plan, rehearsal } = await this.reports.plan(definition);
      return { plan: planView(plan, rehearsal) };
    } catch (error) {
      if (!(error instanceof PlanError)) throw error;
      return { problems: [{ field: '', description: error.message }] };
    }
  }

  async create(json: unknown): Promise<{ name: string }> {
    const { name } = await this.reports.create(requireDefinition(json));
    return { name };
  }

  /** Starts a run of the report, unless a run of it is already in progress. */
  run(name: string): Record<string, never> {
    if (this.runs.get(name)?.isRunning) return {};
    const run: Run = { isRunning: true };
    this.runs.set(name, run);
    void this.finish(name, run);
    return {};
  }

  private async finish(name: string, run: Run): Promise<void> {
    try {
      const answer = await this.reports.run(name, {
        onProgress: (progress) => {
          run.progress = progressView(progress);
        },
        ...(this.signal && { signal: this.signal }),
      });
      this.answers.set(versionOf(await this.reports.get(name)), answer);
    } catch (error) {
      if (!this.signal?.aborted) run.error = failureOf(error).message;
    } finally {
      run.isRunning = false;
    }
  }

  async open(name: string): Promise<OpenedReport> {
    const stored = await this.reports.get(name);
    const { definition, state, createTime, measurements } = stored;
    const { isRunning = false, progress, error } = this.runs.get(name) ?? {};
    const head = {
      ...{ definition, state, createTime, isRunning },
      ...(progress && { progress }),
      ...(error !== undefined && { error }),
    };
    if (isRunning || measurements.size === 0) return head;
    return { ...head, view: viewOf(await this.answer(name, versionOf(stored))) };
  }

  async definitions(names: string[]): Promise<Record<string, OpenedDefinition>> {
    const read = async (name: string): Promise<OpenedDefinition> => {
      try {
        const definition = this.opened.get(name) ?? (await this.reports.get(name)).definition;
        this.opened.set(name, definition);
        return { definition };
      } catch (error) {
        if (error instanceof ReportRejected) return { error: error.message };
        throw error;
      }
    };
    const found = await Promise.all(names.map(async (name) => [name, await read(name)] as const));
    return Object.fromEntries(found);
  }

  async export(name: string, format: ReportFormat): Promise<{ text: string }> {
    const answer = await this.answer(name, versionOf(await this.reports.get(name)));
    return { text: exported(answer, format) };
  }

  private async answer(name: string, version: string): Promise<ReportAnswer> {
    const known = this.answers.get(version);
    if (known !== undefined) return known;
    const answer = await this.reports.show(name);
    // Do not cache the answer while the report is running. The version that is used as the key does not change when a
    // measurement finishes, so the cache would return an outdated answer.
    if (answer.stored.state !== 'RUNNING') this.answers.set(version, answer);
    return answer;
  }
}

const versionOf = ({ name, etag, state }: ReportAnswer['stored']) => `${name} ${etag} ${state}`;

function viewOf({ report, needs, charges }: ReportAnswer): ReportView {
  return reportView(report, new Map(needs.map(({ key, ...state }) => [key, state])), charges);
}

function progressView({ measurements, ...counts }: ReportProgress): ProgressView {
  return {
    ...counts,
    measurements: measurements.map(({ needs, name, state }) =>
      measurementView(needs, { state, ...(name !== undefined && { measurement: name }) }),
    ),
  };
}
