/**
 * The CEL environment for filters: the library's standard functions, corrected where they differ from the CEL
 * specification.
 */
import { type CelEnv, type CelFunc, CelScalar, celEnv, celFunc, celMethod, celUint } from '@bufbuild/cel';
import { create } from '@bufbuild/protobuf';
import { type Timestamp, TimestampSchema, timestampDate } from '@bufbuild/protobuf/wkt';
import { RE2JS } from '@bufbuild/re2';
import { sameType, TIMESTAMP } from './celTypes.ts';

const { BOOL, DOUBLE, INT, STRING, UINT } = CelScalar;

/**
 * Compares strings by code point, as CEL does. JavaScript compares UTF-16 code units, which gives a different order for
 * characters above U+FFFF.
 */
function compareCodePoints(a: string, b: string): number {
  let i = 0;
  while (i < a.length && i < b.length && a.charCodeAt(i) === b.charCodeAt(i)) i++;
  const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
  if (Number.isNaN(x) || Number.isNaN(y)) return a.length - b.length;
  const isSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdfff;
  return isSurrogate(x) === isSurrogate(y) ? x - y : isSurrogate(x) ? 1 : -1;
}

const ordering = (name: string, holds: (order: number) => boolean) =>
  celFunc(name, [STRING, STRING], BOOL, (a, b) => holds(compareCodePoints(a, b)));

/**
 * Defines a method that returns one part of a timestamp, such as its hours. The part is in UTC, regardless of the
 * machine's time zone.
 */
const timePart = (name: string, part: (date: Date) => number) =>
  celMethod(name, TIMESTAMP, [], INT, function () {
    return BigInt(part(timestampDate(this.message as Timestamp)));
  });

function dayOfYear(date: Date): number {
  // Unlike `Date.UTC`, `setUTCFullYear` does not take the years 0 to 99 for 1900 to 1999.
  const newYear = new Date(0).setUTCFullYear(date.getUTCFullYear());
  return Math.floor((date.getTime() - newYear) / 86_400_000);
}

/** Requires that a number's text matches `form`, because the library also accepts '', ' 5 ', and '0x10' as numbers. */
function requireForm(text: string, form: RegExp): string {
  if (form.test(text)) return text;
  throw new Error('not a number');
}

function within64(value: bigint, wrap: (bits: number, value: bigint) => bigint): bigint {
  if (wrap(64, value) === value) return value;
  throw new Error('beyond 64 bits');
}

/** Throws unless the time is in the years 1 to 9999, the range of a CEL timestamp. */
function requireYear(seconds: bigint): bigint {
  if (seconds >= -62_135_596_800n && seconds <= 253_402_300_799n) return seconds;
  throw new Error('beyond the years 1 to 9999');
}

const MAX_PATTERN = 1000;
const MAX_INSTRUCTIONS = 1000;
const MAX_PATTERNS = 100;
const patterns = new Map<string, RE2JS>();

/**
 * Compiles an RE2 pattern, or throws if the pattern is invalid or too large. Matching time is proportional to the text
 * length times the size of the compiled program.
 */
function compilePattern(pattern: string): RE2JS {
  const cached = patterns.get(pattern);
  if (cached !== undefined) return cached;
  if (pattern.length > MAX_PATTERN) throw new Error(`a pattern has at most ${MAX_PATTERN} characters`);
  requireFewRepetitions(pattern);
  const compiled = RE2JS.compile(pattern);
  if (instructionsOf(compiled) > MAX_INSTRUCTIONS) throw tooLarge();
  if (patterns.size >= MAX_PATTERNS) patterns.clear();
  patterns.set(pattern, compiled);
  return compiled;
}

/** Rejects counted repetitions that would take a long time to compile, such as `(a{900}){900}`. */
function requireFewRepetitions(pattern: string): void {
  const counts = [...pattern.matchAll(/\{(\d*),?(\d*)/g)].map(([, least, most]) => Number(most || least));
  if (counts.reduce((sum, count) => sum + count, 0) > MAX_INSTRUCTIONS) throw tooLarge();
}

const tooLarge = () => new Error('it is too large: use fewer and smaller repetitions');
const instructionsOf = (compiled: RE2JS) => compiled.re2().prog.numInst();

/** Returns the number of instructions in the compiled pattern. Throws if the pattern is invalid or too large. */
export const patternSize = (pattern: string) => instructionsOf(compilePattern(pattern));

export const environment: CelEnv = celEnv({
  re2: { compile: compilePattern },
  funcs: [
    ordering('_<_', (order) => order < 0),
    ordering('_<=_', (order) => order <= 0),
    ordering('_>_', (order) => order > 0),
    ordering('_>=_', (order) => order >= 0),
    celFunc('int', [STRING], INT, (text) =>
      within64(BigInt(requireForm(text, /^-?\d{1,19}$/)), BigInt.asIntN),
    ),
    celFunc('uint', [STRING], UINT, (text) =>
      celUint(within64(BigInt(requireForm(text, /^\d{1,20}$/)), BigInt.asUintN)),
    ),
    celFunc('double', [STRING], DOUBLE, (text) =>
      Number(requireForm(text, /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i)),
    ),
    // Replaces the library's function, which wrongly reports an overflow for quotients above 2^63.
    celFunc('_/_', [UINT, UINT], UINT, (a, b) => celUint(a.value / b.value)),
    // Replaces the library's function, which takes milliseconds instead of seconds and allows any year.
    celFunc('timestamp', [INT], TIMESTAMP, (seconds) =>
      create(TimestampSchema, { seconds: requireYear(seconds) }),
    ),
    timePart('getFullYear', (date) => date.getUTCFullYear()),
    timePart('getMonth', (date) => date.getUTCMonth()),
    timePart('getDate', (date) => date.getUTCDate()),
    timePart('getDayOfMonth', (date) => date.getUTCDate() - 1),
    timePart('getDayOfWeek', (date) => date.getUTCDay()),
    timePart('getDayOfYear', dayOfYear),
    timePart('getHours', (date) => date.getUTCHours()),
    timePart('getMinutes', (date) => date.getUTCMinutes()),
    timePart('getSeconds', (date) => date.getUTCSeconds()),
    timePart('getMilliseconds', (date) => date.getUTCMilliseconds()),
  ],
});

export const OVERLOADS: ReadonlyMap<string, CelFunc[]> = Map.groupBy(
  [...environment.funcs].filter((func) => !convertsSilently(func) && !takesTimeZone(func)),
  (func) => func.name,
);

function convertsSilently({ name, arguments: [a, b] }: CelFunc): boolean {
  return /^_[<>]=?_$/.test(name) && !sameType(a!, b!);
}

function takesTimeZone({ target, arguments: args }: CelFunc): boolean {
  return target !== undefined && sameType(target, TIMESTAMP) && args.length > 0;
}
