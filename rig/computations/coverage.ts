/** Counts the kills by kind of process and by the stage that a computation had reached. */
import type { Random } from '../random.ts';
import { nameOf, type Place } from './places.ts';

/**
 * The kinds of processes to kill. `face` is a duchy's process with the HTTP server, `mill` is one of the duchy's other
 * processes, and `duchy` is all processes of a duchy. `postmaster` is PostgreSQL's main process, and `backend` is
 * PostgreSQL's process for one connection.
 */
export const DUCHY_KINDS = ['face', 'mill', 'duchy'] as const;
export const OTHER_KINDS = ['exchange', 'postmaster', 'backend'] as const;
const KINDS = [...DUCHY_KINDS, ...OTHER_KINDS];
export type Kind = (typeof KINDS)[number];

export class Coverage {
  private readonly places: Place[];
  private readonly hits = new Map<string, number>();
  private readonly tries = new Map<string, number>();
  private readonly kills = new Map<Kind, number>();

  constructor(places: Place[]) {
    this.places = places;
  }

  /**
   * Counts one kill. `place` is the stage that the computation was in, or undefined if the kill was not aimed at a
   * stage.
   */
  add(kind: Kind, place: Pick<Place, 'role' | 'stage'> | undefined): void {
    this.kills.set(kind, (this.kills.get(kind) ?? 0) + 1);
    if (place !== undefined) this.count(this.hits, kind, place);
  }

  /**
   * Returns the place with the fewest kills of this kind. If several places have the fewest kills, returns one of those
   * that this function chose least often.
   */
  next(kind: Kind, random: Random): Place {
    const cost = (place: Place) => 100 * this.of(this.hits, kind, place) + this.of(this.tries, kind, place);
    const least = Math.min(...this.places.map(cost));
    const place = random.pick(this.places.filter((each) => cost(each) === least));
    this.count(this.tries, kind, place);
    return place;
  }

  killed(kind: Kind): number {
    return this.kills.get(kind) ?? 0;
  }

  /**
   * The kinds that were never killed, the number of stages without a kill, and the number of pairs of kind and stage
   * without a kill.
   */
  get missing(): { kinds: Kind[]; stages: number; cells: number } {
    const isMissed = (kind: Kind, place: Place) => this.of(this.hits, kind, place) === 0;
    return {
      kinds: KINDS.filter((kind) => this.killed(kind) === 0),
      stages: this.places.filter((place) => KINDS.every((kind) => isMissed(kind, place))).length,
      cells: this.places.flatMap((place) => KINDS.filter((kind) => isMissed(kind, place))).length,
    };
  }

  /** Formats the counts as a Markdown table. */
  table(): string {
    const rows = this.places.map((place) => [
      nameOf(place),
      ...KINDS.map((kind) => String(this.of(this.hits, kind, place))),
    ]);
    const all = ['all, also at random', ...KINDS.map((kind) => String(this.killed(kind)))];
    const width = Math.max(...rows.map(([name]) => name!.length));
    const line = ([name, ...cells]: string[]) =>
      `| ${name!.padEnd(width)} | ${cells.map((cell, i) => cell.padStart(KINDS[i]!.length)).join(' | ')} |`;
    const rule = `|${'-'.repeat(width + 2)}|${KINDS.map((kind) => `${'-'.repeat(kind.length + 1)}:`).join('|')}|`;
    return [line(['killed at', ...KINDS]), rule, ...rows.map(line), line(all)].join('\n');
  }

  private of(counts: Map<string, number>, kind: Kind, place: Place): number {
    return counts.get(`${kind} ${nameOf(place)}`) ?? 0;
  }

  private count(counts: Map<string, number>, kind: Kind, place: Pick<Place, 'role' | 'stage'>): void {
    const key = `${kind} ${nameOf(place)}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
}
