/** Validates the members of an object that a caller passed. Each violation is recorded with the name of its field. */
import { parseTimestamp, REQUIRED, type Timestamp, type Violation } from '@measurement-exchange/contract';

export type Members = Record<string, unknown>;

const MAX_INT32 = 2 ** 31 - 1;
/** The longest google.protobuf.Duration, in seconds: ten thousand years. */
const MAX_SECONDS = 315_576_000_000;
const EXAMPLE_TIME = '2026-01-31T00:00:00Z';

/**
 * Reads values. For an invalid value, records a violation and returns a placeholder that causes no further violations.
 */
export class MemberReader {
  readonly violations: Violation[] = [];

  protected oneOf<T extends string>(given: unknown, at: string, choices: readonly T[]): T | undefined {
    if (choices.includes(given as T)) return given as T;
    this.report(at, given === undefined ? REQUIRED : `must be one of ${choices.join(', ')}`);
    return undefined;
  }

  protected time(given: unknown, at: string): Timestamp {
    const millis = given instanceof Date ? given.getTime() : Number.NaN;
    const text = Number.isNaN(millis) ? given : new Date(millis).toISOString();
    const time = typeof text === 'string' ? parseTimestamp(text) : undefined;
    if (given === undefined) this.report(at, REQUIRED);
    else if (time === undefined) this.report(at, `must be a Date or RFC 3339 such as ${EXAMPLE_TIME}`);
    return time ?? '';
  }

  protected integer(given: unknown, at: string): number {
    const value = this.number(given, at, 2);
    if (Number.isInteger(value) && value <= MAX_INT32) return value;
    this.report(at, 'must be an integer below 2147483648');
    return 2;
  }

  /** Reads a number of seconds, and rounds it to nanoseconds, the precision of the spec. */
  protected seconds(given: unknown, at: string): number {
    const value = this.number(given, at, 1);
    if (value <= MAX_SECONDS) return Math.round(value * 1e9) / 1e9;
    this.report(at, `must be at most ${MAX_SECONDS}`);
    return 1;
  }

  protected number(given: unknown, at: string, otherwise: number): number {
    if (typeof given === 'number' && !Number.isNaN(given)) return given;
    this.report(at, given === undefined ? REQUIRED : 'must be a number');
    return otherwise;
  }

  protected text(given: unknown, at: string, max: number): string | undefined {
    if (given === undefined) return undefined;
    if (typeof given === 'string' && given.length > 0 && given.length <= max) return given;
    this.report(at, `must be a text of 1 to ${max} characters`);
    return undefined;
  }

  protected list(given: unknown, at: string): unknown[] {
    if (Array.isArray(given) && given.length > 0) return given;
    this.report(at, given === undefined ? REQUIRED : 'must be a list with at least one entry');
    return [];
  }

  protected object(given: unknown, at: string, known?: readonly string[]): Members | undefined {
    if (typeof given !== 'object' || given === null || Array.isArray(given)) {
      this.report(at, given === undefined ? REQUIRED : 'must be an object');
      return undefined;
    }
    for (const member of Object.keys(given)) {
      if (known && !known.includes(member)) this.report(`${at}.${member}`, 'is not a known field');
    }
    return given as Members;
  }

  protected report(field: string, description: string): void {
    this.violations.push({ field, description });
  }
}
