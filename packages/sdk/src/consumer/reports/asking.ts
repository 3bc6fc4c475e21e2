/**
 * Measures the needs (values that a report requires) that have no answer yet. Creates their measurements, with a
 * limited number open at a time, and waits for them.
 */
import { ExchangeError, isTerminal, type Measurement } from '@measurement-exchange/contract';
import type { Plan, PlannedNeed } from '@measurement-exchange/reports';
import { followChanges, isTransient } from '../../client/index.ts';
import { createMeasurement, prepareMeasurement } from '../create.ts';
import type { Dependencies } from '../deps.ts';
import { ProtocolRejected } from '../errors.ts';
import { openQuestion } from '../question.ts';
import { inBatches } from './batches.ts';
import { notDue } from './due.ts';
import { hex, type ReportKeys } from './keys.ts';
import { isLost, type Outcomes } from './outcomes.ts';
import { asksFor, requestFor, titleOf } from './requests.ts';
import type { World } from './surroundings.ts';

/** The progress of a report's measurements. */
export interface ReportProgress {
  total: number;
  /** The number of measurements that have succeeded. */
  answered: number;
  measurements: MeasurementProgress[];
}

/** The progress of one measurement, which answers all of `needs`. It has no name until it is created. */
export interface MeasurementProgress {
  needs: readonly [PlannedNeed, ...PlannedNeed[]];
  title: string;
  name?: string;
  state: string;
}

interface Job {
  needs: readonly [PlannedNeed, ...PlannedNeed[]];
  title: string;
}

export interface AskingOptions {
  plan: Plan;
  world: World;
  keys: ReportKeys;
  outcomes: Outcomes;
  /**
   * Returns how many measurements for a need existed before this run. All of them failed or were rejected, because
   * otherwise the need would not be measured again.
   */
  failures: (key: string) => number;
  /** Whether to repeat measurements that failed. */
  retries: boolean;
  /** Stores which measurement answers which needs. */
  record: (measurements: { keys: string[]; measurement: string }[]) => Promise<void>;
  onProgress?: ((progress: ReportProgress) => void) | undefined;
}

/** The maximum number of measurements that a report has open at the same time. */
const MOST_OPEN = 12;
const POLL_MS = 1000;
const READ_AT_ONCE = 8;
/** The maximum number of further request IDs to try if the measurement with the first request ID has failed. */
const MAX_ATTEMPTS = 100;
const QUESTION_TOO_LARGE =
  'The question is too large to be stored with its measurement: use fewer event groups or shorter filters.';

/** Resolves when every measurement has ended. If the signal aborts a call, a later call resumes the work. */
export async function askMissing(deps: Dependencies, options: AskingOptions): Promise<void> {
  await new Asking(deps, options).run();
}

class Asking {
  private readonly deps: Dependencies;
  private readonly options: AskingOptions;
  private readonly jobs: Job[];
  private readonly open = new Map<string, Job>();
  private mostOpen = MOST_OPEN;

  constructor(deps: Dependencies, options: AskingOptions) {
    this.deps = deps;
    this.options = options;
    this.jobs = this.jobsOf(options.plan.needs);
  }

  async run(): Promise<void> {
    const { client, credentials, signal, clock } = this.deps;
    const follower = followChanges(client, {
      ...{ parent: credentials.name, kinds: ['MEASUREMENT'], signal, clock },
    });
    try {
      const waiting = this.chooseWaiting();
      this.report();
      while (waiting.length + this.open.size > 0) {
        await this.create(waiting);
        if (this.open.size === 0) continue;
        const { changes, poll } = await follower.next(POLL_MS);
        const names = poll ? [...this.open.keys()] : changes.map(({ name }) => name);
        await this.look(names.filter((name) => this.open.has(name)));
      }
    } finally {
      follower.close();
    }
  }

  /** Groups the needs into measurements. Needs that already share an open or successful measurement form one group. */
  private jobsOf(needs: readonly PlannedNeed[]): Job[] {
    const { plan, outcomes } = this.options;
    const byKey = new Map(needs.map((need) => [need.key, need]));
    const isLive = ({ key }: PlannedNeed) => {
      const state = outcomes.of(key);
      return state.measurement !== undefined && !isLost(state);
    };
    const live = Map.groupBy(needs.filter(isLive), ({ key }) => outcomes.of(key).measurement!);
    const groups = [
      ...live.values(),
      ...plan.measurements.map((keys) => keys.map((key) => byKey.get(key)!).filter((need) => !isLive(need))),
      ...needs.filter((need) => need.answered && !isLive(need)).map((need) => [need]),
    ];
    return groups
      .filter((group) => group.length > 0)
      .map((group) => ({ needs: group as [PlannedNeed], title: titleOf(plan, group) }));
  }

  /**
   * Returns the jobs whose measurements are to be created. If a job already has a measurement that has not ended, adds
   * the job to the map `open` instead.
   */
  private chooseWaiting(): Job[] {
    const { outcomes, world, retries } = this.options;
    const now = this.deps.clock.now();
    return this.jobs.filter(({ needs, title }) => {
      const first = outcomes.of(needs[0].key);
      if (first.measurement !== undefined && !isLost(first)) {
        if (first.state !== 'SUCCEEDED') this.open.set(first.measurement, { needs, title });
        return false;
      }
      if (first.measurement !== undefined && !retries) return false;
      const [reason] = needs.flatMap((need) => notDue(need, world, now) ?? []);
      if (reason !== undefined) outcomes.set(needs, { state: 'NOT_DUE', reason });
      return reason === undefined;
    });
  }

  private async create(waiting: Job[]): Promise<void> {
    const batch = waiting.splice(0, Math.max(0, this.mostOpen - this.open.size));
    if (batch.length === 0) return;
    const recorded: { keys: string[]; measurement: string }[] = [];
    const created = batch.map(async (job) => {
      const measurement = await this.createOne(job, waiting);
      if (measurement === undefined) return;
      recorded.push({ keys: job.needs.map(({ key }) => key), measurement: measurement.name! });
      this.open.set(measurement.name!, job);
      await this.options.outcomes.take(job.needs, measurement);
      if (isTerminal(measurement.state)) this.open.delete(measurement.name!);
    });
    const settled = await Promise.allSettled(created);
    // Record the created measurements even if another one failed, so that the next run finds them.
    if (recorded.length > 0) await this.options.record(recorded);
    this.report();
    for (const result of settled) if (result.status === 'rejected') throw result.reason;
  }

  /**
   * Creates the measurement of a job. Returns undefined if the measurement cannot be created now. If the reason is that
   * open measurements of this report must end first, adds the job to `waiting` again. For any other reason, stores the
   * reason in the outcomes. Rethrows an error that is temporary, and any error after the signal was aborted.
   */
  private async createOne(job: Job, waiting: Job[]): Promise<Measurement | undefined> {
    try {
      return await this.request(job);
    } catch (error) {
      const isFull = error instanceof ExchangeError && error.reason === 'TOO_MANY_OPEN_MEASUREMENTS';
      if (isFull && this.open.size > 0) {
        this.mostOpen = this.open.size;
        waiting.push(job);
        return undefined;
      }
      if (this.deps.signal?.aborted || (isTransient(error) && !isFull)) throw error;
      if (error instanceof ProtocolRejected) {
        await this.deps.client.cancelMeasurement({ name: error.measurement.name! });
      }
      this.options.outcomes.set(job.needs, { state: 'NOT_CREATED', reason: (error as Error).message });
      return undefined;
    }
  }

  /**
   * Creates the measurement, or returns the one that an interrupted run created and could not record. If that
   * measurement failed, tries the next request ID.
   */
  private async request({ needs, title }: Job): Promise<Measurement> {
    const { keys, failures, world } = this.options;
    const id = hex(await keys.of('measurement', ...needs.map(({ key }) => key).sort()));
    for (let attempt = failures(needs[0].key); ; attempt++) {
      const request = requestFor(needs, { title, requestId: `report-${id}-${attempt}` });
      const prepared = await prepareMeasurement(this.deps, request, [...world.eventGroups.values()]);
      // Without its question, the result would be rejected, and providers would be charged for nothing.
      if (prepared.body.encryptedQuestion === undefined) throw new Error(QUESTION_TOO_LARGE);
      const measurement = await createMeasurement(this.deps, prepared).catch((error: unknown) =>
        this.existing(error, needs),
      );
      // Content that was removed cannot be an answer anymore.
      const isOver =
        measurement.deleteTime !== undefined ||
        (isTerminal(measurement.state) && measurement.state !== 'SUCCEEDED');
      if (!isOver || attempt >= failures(needs[0].key) + MAX_ATTEMPTS) return measurement;
    }
  }

  /**
   * If `error` is REQUEST_ID_REUSED, returns the measurement that already has the request ID, provided that its stored
   * question asks for these needs. The noise is allowed to differ. In all other cases, throws `error`.
   */
  private async existing(error: unknown, needs: Job['needs']): Promise<Measurement> {
    if (!(error instanceof ExchangeError && error.reason === 'REQUEST_ID_REUSED')) throw error;
    const { client, signal } = this.deps;
    const measurement = await client.getMeasurement({ name: error.metadata.existing!, signal });
    if (measurement.deleteTime !== undefined) return measurement;
    const question = await openQuestion(this.deps, measurement);
    if (question === undefined || !needs.every(({ need }) => asksFor(question, need))) throw error;
    return measurement;
  }

  private async look(names: readonly string[]): Promise<void> {
    const { client, signal } = this.deps;
    await inBatches(names, READ_AT_ONCE, async (name) => {
      const measurement = await client.getMeasurement({ name, signal });
      const { needs } = this.open.get(name)!;
      await this.options.outcomes.take(needs, measurement);
      if (isTerminal(measurement.state)) this.open.delete(name);
    });
    if (names.length > 0) this.report();
  }

  private report(): void {
    const measurements = this.jobs.map(({ needs, title }) => {
      const { measurement: name, state } = this.options.outcomes.of(needs[0].key);
      return { needs, title, state, ...(name !== undefined && { name }) };
    });
    const answered = measurements.filter(({ state }) => state === 'SUCCEEDED').length;
    this.options.onProgress?.({ total: measurements.length, answered, measurements });
  }
}
