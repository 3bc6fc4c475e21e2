/** Plans, runs, and checks a consumer's reports. Private keys and unencrypted figures never leave the consumer. */
import {
  chargesOf,
  correctReport,
  documentOf,
  type Plan,
  PlanError,
  type Rehearsal,
  type RehearsedCharge,
  type Report,
  type ReportDefinition,
  type ReportDocument,
  type StarterEventGroup,
  starterDefinition,
} from '@measurement-exchange/reports';
import type { Dependencies } from '../deps.ts';
import { askMissing, type ReportProgress } from './asking.ts';
import { inBatches } from './batches.ts';
import { differencesOf, type FigureDifference } from './differences.ts';
import { notDue } from './due.ts';
import { ReportKeys } from './keys.ts';
import { Known } from './known.ts';
import { isLost, type NeedState, Outcomes } from './outcomes.ts';
import { type Planning, planWith } from './planning.ts';
import { type StoredReport, StoredReports, type UnreadableReport } from './stored.ts';

/** The measurements that a report would create, and their cost. Planning creates none of them. */
export interface PlannedReport {
  plan: Plan;
  rehearsal: Rehearsal;
  /** Maps the key of each need that has a successful or pending measurement to the name of that measurement. */
  reused: ReadonlyMap<string, string>;
  /** For each need that cannot be measured yet, maps the need's key to the reason for the wait. */
  notDue: ReadonlyMap<string, string>;
}

export interface ReportAnswer {
  stored: StoredReport;
  plan: Plan;
  report: Report;
  needs: NeedState[];
  /**
   * The charges of the report's measurements. A need that was answered before the report was created is not charged
   * again.
   */
  charges: RehearsedCharge[];
  /** The report as JSON, for files and other programs. */
  document: ReportDocument;
}

/** The result of `Reports.check`. */
export interface ReportCheck {
  answer: ReportAnswer;
  /** Whether an answer is stored with the report. */
  isStored: boolean;
  /** The figures that differ between the stored answer and the recomputed one. */
  differences: FigureDifference[];
  /** The needs whose results failed a check. */
  rejected: NeedState[];
}

export interface RunOptions {
  /** Called at the start, and whenever the run has created or read measurements of the report. */
  onProgress?: (progress: ReportProgress) => void;
  /**
   * Names of measurements that no report contains yet. If one of them answers a need, the need is not measured again.
   */
  measurements?: readonly string[];
  /** Aborting ends the wait. Measurements that exist are not canceled, and the next run waits for them. */
  signal?: AbortSignal;
}

interface Situation extends Planning {
  known: Known;
  outcomes: Outcomes;
}

const OPENED_AT_ONCE = 8;

/** Plans, runs, and checks a consumer's reports. Use it as `consumer.reports`. */
export class Reports {
  private readonly deps: Dependencies;
  private keys: Promise<ReportKeys> | undefined;

  /** @internal */
  constructor(deps: Dependencies) {
    this.deps = deps;
  }

  /** Plans a report, and computes its cost and expected errors. Creates no measurements, and stores nothing. */
  async plan(
    definition: ReportDefinition,
    { signal }: Pick<RunOptions, 'signal'> = {},
  ): Promise<PlannedReport> {
    const deps = { ...this.deps, signal };
    const known = await Known.of(deps, await this.ownKeys());
    const reused = new Map<string, string>();
    const isAnswered = async (key: string) => {
      const answer = await known.answer(key);
      if (answer !== undefined) reused.set(key, answer.name!);
      return answer !== undefined;
    };
    const { plan, rehearsal, world } = await planWith(
      deps,
      definition,
      known.isEmpty ? undefined : isAnswered,
    );
    const planned = new Set(plan.needs.map(({ key }) => key));
    for (const key of reused.keys()) if (!planned.has(key)) reused.delete(key);
    const now = deps.clock.now();
    const waiting = plan.needs.flatMap((need) => {
      const reason = need.answered ? undefined : notDue(need, world, now);
      return reason === undefined ? [] : [[need.key, reason] as const];
    });
    return { plan, rehearsal, reused, notDue: new Map(waiting) };
  }

  /** Returns a definition for all event groups that the consumer can see, as a starting point for people to edit. */
  async starter(): Promise<ReportDefinition> {
    const { client, credentials, clock } = this.deps;
    const eventGroups: StarterEventGroup[] = [];
    for await (const group of client.listEventGroups({ parent: credentials.name })) {
      const { name, dataProvider, dataAvailabilityInterval: available } = group;
      eventGroups.push({
        name: `${dataProvider}/eventGroups/${name!.split('/').at(-1)}`,
        ...{ startTime: available?.startTime, endTime: available?.endTime },
      });
    }
    if (eventGroups.length === 0) {
      throw new PlanError(
        'No data provider has described an event group to you, so there is nothing to report on.',
      );
    }
    return starterDefinition(eventGroups, clock.now());
  }

  /**
   * Stores a report. The exchange cannot read the definition. Storing the same definition again returns the same
   * report, unless that report was deleted.
   */
  async create(definition: ReportDefinition): Promise<StoredReport> {
    return (await this.stored()).create(definition);
  }

  /** Lists the reports, the newest first. */
  async *list(): AsyncGenerator<StoredReport | UnreadableReport> {
    yield* (await this.stored()).list();
  }

  /**
   * Reads a report. Throws `ReportRejected` if the definition is invalid, cannot be decrypted, or was not encrypted by
   * this consumer.
   */
  async get(name: string): Promise<StoredReport> {
    return (await this.stored()).get(name);
  }

  /** Deletes a report, but keeps its measurements. */
  async delete(name: string): Promise<void> {
    await this.deps.client.deleteReport({ name });
  }

  /**
   * Creates measurements for all needs that have no answer and whose period and data are complete. Then waits for the
   * measurements, verifies the results, and corrects the figures. It is safe to call this again at any time: only
   * measurements that failed are repeated.
   */
  run(name: string, options: RunOptions = {}): Promise<ReportAnswer> {
    return this.runOnce(name, options, true);
  }

  /** Runs a report once. Repeats failed measurements only if `retries` is true. */
  private async runOnce(
    name: string,
    { onProgress, measurements, signal }: RunOptions,
    retries: boolean,
  ): Promise<ReportAnswer> {
    const deps = { ...this.deps, signal };
    const store = await this.stored(deps);
    const stored = await store.get(name);
    const situation = await this.situation(deps, stored, measurements);
    const { plan, world, known, outcomes } = situation;
    const failures = new Map<string, number>();
    for (const { key } of plan.needs) failures.set(key, (await known.measurements(key)).length);
    await store.record(name, reusedOf(outcomes, stored));
    await askMissing(deps, {
      ...{ plan, world, keys: await this.ownKeys(), outcomes, onProgress, retries },
      failures: (key) => failures.get(key) ?? 0,
      record: (created) =>
        store.record(
          name,
          created.flatMap(({ keys, measurement }) => keys.map((key) => ({ key, measurement }))),
        ),
    });
    const answer = await answerOf(deps, await store.get(name), situation);
    await store.storeAnswer(name, { document: answer.document });
    return answer;
  }

  /**
   * Runs the report repeatedly, with pauses of at most 10 minutes, until no need waits for the end of its period or for
   * data. Yields the answer after each run. Only the first run repeats failed measurements. Use this for a campaign
   * that has not ended.
   */
  async *watch(name: string, options: RunOptions = {}): AsyncGenerator<ReportAnswer> {
    const { clock } = this.deps;
    for (let isFirst = true; ; isFirst = false) {
      const answer = await this.runOnce(name, options, isFirst);
      yield answer;
      const ends = periodEnds(answer);
      if (ends.length === 0) return;
      const pauses = ends.map((end) => end - clock.now()).filter((ms) => ms > 0);
      // Check again from time to time, because the data of a period may arrive long after the period ends.
      await clock.sleep(Math.min(...pauses, LONGEST_PAUSE_MS), options.signal);
    }
  }

  /** Returns the figures that the existing answers determine. Creates no measurements, and stores nothing. */
  async show(name: string, { signal }: Pick<RunOptions, 'signal'> = {}): Promise<ReportAnswer> {
    const deps = { ...this.deps, signal };
    const stored = await (await this.stored(deps)).get(name);
    return answerOf(deps, stored, await this.situation(deps, stored));
  }

  /** Verifies every signed result again, recomputes every figure, and compares the figures with the stored answer. */
  async check(name: string, options: Pick<RunOptions, 'signal'> = {}): Promise<ReportCheck> {
    const answer = await this.show(name, options);
    const stored = await (await this.stored({ ...this.deps, ...options })).answer(name);
    return {
      answer,
      isStored: stored !== undefined,
      differences: stored === undefined ? [] : differencesOf(stored.document, answer.document),
      rejected: answer.needs.filter(({ state }) => state === 'REJECTED'),
    };
  }

  private ownKeys(): Promise<ReportKeys> {
    this.keys ??= ReportKeys.of(this.deps);
    return this.keys;
  }

  private async stored(deps = this.deps): Promise<StoredReports> {
    return new StoredReports(deps, await this.ownKeys());
  }

  /**
   * Plans a stored report, and finds the measurements and answers that exist for its needs. In the plan, a need counts
   * as answered only if its measurement was created before the report. Otherwise, the report's own measurements would
   * change how the plan splits the budget.
   */
  private async situation(
    deps: Dependencies,
    stored: StoredReport,
    adopted: readonly string[] = [],
  ): Promise<Situation> {
    const known = await Known.of(deps, await this.ownKeys());
    await known.adopt(adopted);
    const isAnswered = async (key: string) => {
      const answer = await known.answer(key);
      return answer !== undefined && Date.parse(answer.createTime!) < Date.parse(stored.createTime);
    };
    const planning = await planWith(deps, stored.definition, known.isEmpty ? undefined : isAnswered);
    const outcomes = new Outcomes(deps, planning.plan);
    const found = await inBatches(planning.plan.needs, OPENED_AT_ONCE, async (need) => ({
      need,
      measurement: (await known.answer(need.key)) ?? (await known.measurements(need.key)).at(-1),
    }));
    const taken = Map.groupBy(
      found.filter(({ measurement }) => measurement !== undefined),
      ({ measurement }) => measurement!,
    );
    await inBatches([...taken], OPENED_AT_ONCE, ([measurement, needs]) =>
      outcomes.take(
        needs.map(({ need }) => need),
        measurement,
      ),
    );
    return { ...planning, known, outcomes };
  }
}

const LONGEST_PAUSE_MS = 600_000;

/** Returns the period ends of the needs that could not be measured yet, in milliseconds since 1970. */
function periodEnds({ plan, needs }: ReportAnswer): number[] {
  const waiting = new Set(needs.filter(({ state }) => state === 'NOT_DUE').map(({ key }) => key));
  return plan.needs.filter(({ key }) => waiting.has(key)).map(({ need }) => Date.parse(need.period.end));
}

/** Returns the usable measurements that this report does not record yet, each with the key of its need. */
function reusedOf(outcomes: Outcomes, stored: StoredReport): { key: string; measurement: string }[] {
  const own = new Set(stored.measurements.values());
  return outcomes.all().flatMap((need) => {
    const { key, measurement } = need;
    return measurement === undefined || isLost(need) || own.has(measurement) ? [] : [{ key, measurement }];
  });
}

async function answerOf(
  { correctReport: correct = correctReport, signal }: Dependencies,
  stored: StoredReport,
  { plan, surroundings, outcomes }: Situation,
): Promise<ReportAnswer> {
  const report = await correct(plan, outcomes.answers, signal ? { signal } : {});
  const document = documentOf(report, (key) => {
    const { measurement, state, reason } = outcomes.of(key);
    return {
      ...(measurement !== undefined && { measurement }),
      state,
      ...(reason !== undefined && { reason }),
    };
  });
  const asked = plan.needs.filter(({ key }) => outcomes.of(key).measurement !== undefined);
  const charges = chargesOf({ needs: asked }, surroundings);
  return { stored, plan, report, needs: outcomes.all(), charges, document };
}
