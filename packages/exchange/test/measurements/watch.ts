/**
 * Readers for tests in which other callers change measurements. The readers read these measurements repeatedly, and
 * record every combination of states that must not occur.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Reply } from '@measurement-exchange/testkit/exchange';

/** Reads the measurement or the list at `path`. If `names` is set, reads these measurements as a batch instead. */
type Read = (path: string, names?: string[]) => Promise<Reply>;

/**
 * The number of newest measurements to read. The tests change at most 16 measurements at a time, so the readers see
 * every measurement that is being changed.
 */
const RECENT = 20;

export class Watch {
  readonly illegal: string[] = [];
  looks = 0;
  private recent: string[] = [];
  private over = false;
  private readonly read: Read;

  constructor(read: Read) {
    this.read = read;
  }

  add(measurement: string): void {
    this.recent = [...this.recent.slice(1 - RECENT), measurement];
  }

  /** Starts the readers. Resolves when they have been stopped. */
  async start(readers: number): Promise<void> {
    await Promise.all(Array.from({ length: readers }, (_, i) => this.look(i)));
  }

  stop(): void {
    this.over = true;
  }

  private async look(reader: number): Promise<void> {
    for (let turn = reader; !this.over; turn++) {
      const names = this.recent;
      if (names.length === 0) {
        await sleep(5);
        continue;
      }
      const one = names[Math.floor(Math.random() * names.length)]!;
      if (turn % 3 === 0)
        this.note((await this.read('', names)).json.measurements.flatMap(measurementWrongs));
      else if (turn % 3 === 1) this.note(measurementWrongs((await this.read(one)).json));
      else this.note(requisitionWrongs((await this.read(`${one}/requisitions`)).json.requisitions));
    }
  }

  private note(wrongs: string[]): void {
    this.looks++;
    this.illegal.push(...wrongs);
  }
}

interface Measurement {
  name: string;
  state: string;
  dataProviders: object;
  results?: unknown[];
  failure?: { reason: string };
}

/**
 * Returns a message if a direct measurement breaks one of three rules. The measurement has one result for each provider
 * in state SUCCEEDED, and no results in other states. It has a failure in state FAILED, and only then. No reader ever
 * sees the state COMPUTING.
 */
function measurementWrongs({ name, state, dataProviders, results = [], failure }: Measurement): string[] {
  const right =
    results.length === (state === 'SUCCEEDED' ? Object.keys(dataProviders).length : 0) &&
    (failure !== undefined) === (state === 'FAILED') &&
    state !== 'COMPUTING';
  return right ? [] : [`${name} is ${state} with ${results.length} results and failure ${failure?.reason}`];
}

interface Requisition {
  name: string;
  state: string;
  measurementState: string;
}

/** Returns a message if the states of the requisitions do not fit the state of their measurement. */
function requisitionWrongs(list: Requisition[]): string[] {
  const states = list.map(({ state }) => state);
  const count = (state: string) => states.filter((s) => s === state).length;
  const right: Record<string, boolean> = {
    AWAITING_REQUISITION_FULFILLMENT:
      count('UNFULFILLED') > 0 && count('UNFULFILLED') + count('FULFILLED') === list.length,
    SUCCEEDED: count('FULFILLED') === list.length,
    FAILED: count('REFUSED') === 1 && count('UNFULFILLED') === 0,
    CANCELLED: count('WITHDRAWN') > 0 && count('WITHDRAWN') + count('FULFILLED') === list.length,
  };
  const seen = [...new Set(list.map(({ measurementState }) => measurementState))];
  return seen.length === 1 && right[seen[0]!] ? [] : [`${list[0]?.name} and others: ${seen} with ${states}`];
}
