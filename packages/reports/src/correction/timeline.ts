/**
 * Finds a person's best histories by dynamic programming. The bounds of all periods divide time into intervals, and a
 * history states which segments reached the person in each interval. A person's atom in a period is the union of these
 * segments over the period's intervals. The caller assigns a number, the reward, to each atom in each period. The best
 * histories have the largest sum of rewards.
 */
import type { Period } from '../definition/calendar.ts';

export interface History {
  /** The sum of the rewards over all periods. */
  reward: number;
  /** For each period, a bit mask of the segments that reached the person. */
  atoms: number[];
}

interface Step {
  /** The index of the period with the same start and end as this interval, if there is one. */
  own: number | undefined;
  /**
   * One entry for each distinct start of the periods that include this interval and are longer than it. The state
   * before a step has a bit mask for each start before this interval: the segments that have reached the person since
   * that start. The entry is the position of the start's bit mask in this state. The entry is undefined if the start is
   * also the start of this interval, because no bit mask exists yet.
   */
  before: (number | undefined)[];
  /**
   * The periods that end with this interval and are longer than it. `position` is the index of the period's start in
   * `before`.
   */
  ending: { period: number; position: number }[];
  /**
   * The indexes in `before` of the starts whose periods continue after this interval. (A start counts if at least one
   * of its periods continues.) For each of these starts, the state after this step has a bit mask of the segments that
   * have reached the person since the start.
   */
  open: number[];
}

/** The maximum number of states after a step. With more states, the search would take too long. */
const MAX_STATES = 1 << 16;

export class Timeline {
  private readonly steps: Step[] = [];
  private readonly spans: [first: number, last: number][];
  private readonly bits: number;
  private readonly choices: readonly number[];

  /** `atoms` lists the combinations of segments that can reach a person in an interval, as masks of `bits` bits. */
  constructor(periods: readonly Period[], bits: number, atoms: readonly number[]) {
    this.bits = bits;
    this.choices = [0, ...atoms];
    const times = periods.map(({ start, end }) => [Date.parse(start), Date.parse(end)] as const);
    const bounds = [...new Set(times.flat())].sort((a, b) => a - b);
    this.spans = times.map(([start, end]) => [bounds.indexOf(start), bounds.indexOf(end)]);
    const isLong = ([first, last]: [number, number]) => last - first > 1;
    let before: number[] = [];
    for (let i = 0; i + 1 < bounds.length; i++) {
      const active = [
        ...new Set(
          this.spans.filter((span) => isLong(span) && span[0] <= i && span[1] > i).map(([first]) => first),
        ),
      ];
      const stays = (first: number) =>
        this.spans.some((span) => isLong(span) && span[0] === first && span[1] > i + 1);
      const own = this.spans.findIndex(([first, last]) => first === i && last === i + 1);
      this.steps.push({
        own: own < 0 ? undefined : own,
        before: active.map((first) => (before.includes(first) ? before.indexOf(first) : undefined)),
        ending: this.spans.flatMap((span, period) =>
          isLong(span) && span[1] === i + 1 ? [{ period, position: active.indexOf(span[0]) }] : [],
        ),
        open: active.flatMap((first, position) => (stays(first) ? [position] : [])),
      });
      before = active.filter(stays);
      if (1 << (bits * before.length) > MAX_STATES) {
        throw new RangeError(
          'the report has too many segments for its nested periods: ask for fewer of one of them',
        );
      }
    }
  }

  /**
   * For each interval and each atom, returns the best history with this atom in this interval, if the reward of the
   * history is above 0. `rewards` is indexed by period and then by atom.
   */
  best(rewards: readonly Float64Array[]): History[] {
    const after = this.backward(rewards);
    let reached = new Map<number, { value: number; path: number[] }>([[0, { value: 0, path: [] }]]);
    const found: History[] = [];
    for (const [i, step] of this.steps.entries()) {
      const next = new Map<number, { value: number; path: number[] }>();
      for (const choice of this.choices) {
        let best: { total: number; path: number[]; state: number } | undefined;
        for (const [state, { value, path }] of reached) {
          const [to, gain] = this.move(step, state, choice, rewards);
          const total = value + gain + after[i + 1]![to]!;
          if (best === undefined || total > best.total) best = { total, path, state: to };
          const known = next.get(to);
          if (known === undefined || value + gain > known.value)
            next.set(to, { value: value + gain, path: [...path, choice] });
        }
        if (best !== undefined && best.total > 0) {
          const rest = this.follow(i + 1, best.state, rewards, after);
          found.push({ reward: best.total, atoms: this.atomsOf([...best.path, choice, ...rest]) });
        }
      }
      reached = next;
    }
    return found;
  }

  /** For each step and each state before that step, returns the highest reward from that step to the end. */
  private backward(rewards: readonly Float64Array[]): Float64Array[] {
    const after: Float64Array[] = [];
    after[this.steps.length] = new Float64Array(1);
    for (let i = this.steps.length - 1; i >= 0; i--) {
      const states = i === 0 ? 1 : 1 << (this.bits * this.steps[i - 1]!.open.length);
      after[i] = new Float64Array(states);
      for (let state = 0; state < states; state++) {
        let best = Number.NEGATIVE_INFINITY;
        for (const choice of this.choices) {
          const [to, gain] = this.move(this.steps[i]!, state, choice, rewards);
          best = Math.max(best, gain + after[i + 1]![to]!);
        }
        after[i]![state] = best;
      }
    }
    return after;
  }

  private move(
    step: Step,
    state: number,
    choice: number,
    rewards: readonly Float64Array[],
  ): [to: number, gain: number] {
    const mask = (1 << this.bits) - 1;
    const open = (position: number) => {
      const before = step.before[position];
      return before === undefined ? choice : ((state >> (this.bits * before)) & mask) | choice;
    };
    let gain = step.own === undefined ? 0 : rewards[step.own]![choice]!;
    for (const { period, position } of step.ending) gain += rewards[period]![open(position)]!;
    let to = 0;
    for (let i = 0; i < step.open.length; i++) to |= open(step.open[i]!) << (this.bits * i);
    return [to, gain];
  }

  private follow(
    from: number,
    start: number,
    rewards: readonly Float64Array[],
    after: readonly Float64Array[],
  ): number[] {
    const path: number[] = [];
    let state = start;
    for (let i = from; i < this.steps.length; i++) {
      let best = { total: Number.NEGATIVE_INFINITY, choice: 0, to: 0 };
      for (const choice of this.choices) {
        const [to, gain] = this.move(this.steps[i]!, state, choice, rewards);
        const total = gain + after[i + 1]![to]!;
        if (total > best.total) best = { total, choice, to };
      }
      path.push(best.choice);
      state = best.to;
    }
    return path;
  }

  private atomsOf(path: readonly number[]): number[] {
    return this.spans.map(([first, last]) =>
      path.slice(first, last).reduce((atom, choice) => atom | choice, 0),
    );
  }
}
