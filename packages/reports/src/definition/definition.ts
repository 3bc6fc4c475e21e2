/** The type of a report's definition, and a function that reads a definition from JSON or lists its problems. */
import { decode, type JsonValue, type TSchema, type Violation } from '@measurement-exchange/contract';
import { isTimeZone, type LocalInterval, parseDay } from './calendar.ts';
import { type Expression, ExpressionError, namesIn, parseExpression } from './expression.ts';
import { DEFINITION_SCHEMA, MAX_SEGMENTS, type METRICS, type PERIODS } from './schema.ts';

export type Metric = (typeof METRICS)[number];
export type Periods = (typeof PERIODS)[number];

export interface Segment {
  /** The resource names of the event groups. */
  eventGroups: string[];
  /** A CEL expression that selects events. If absent, all events are selected. */
  filter?: string;
}

export interface FigureRequest {
  metric: Metric;
  /** Names of segments or sets. */
  of: string[];
  periods?: Periods;
  cumulative?: boolean;
  groups?: string;
  /** The wanted half-width of the 95% interval: a percentage of the figure, such as "2 %", or an absolute number. */
  precision?: string | number;
  maximumFrequency?: number;
  maximumPerPerson?: number;
}

export interface ReportDefinition {
  title: string;
  interval: LocalInterval;
  modelLine?: string;
  segments: Record<string, Segment>;
  sets?: Record<string, string>;
  groups?: Record<string, { by: string[] }>;
  figures: FigureRequest[];
  budget: { epsilon?: number; rho?: number; delta?: number };
}

/** Thrown by `requireDefinition`. The message has one line per problem. */
export class DefinitionError extends Error {
  override readonly name = 'DefinitionError';
  readonly problems: readonly Violation[];

  constructor(problems: readonly Violation[]) {
    super(problems.map(({ field, description }) => `${field} ${description}.`).join('\n'));
    this.problems = problems;
  }
}

/** Returns the definition, or all problems in it with their paths. */
export function readDefinition(
  json: unknown,
): { definition: ReportDefinition; problems?: never } | { definition?: never; problems: Violation[] } {
  const problems: Violation[] = [];
  const read = decode(DEFINITION_SCHEMA as unknown as TSchema, json as JsonValue, problems) as
    | (ReportDefinition & { $schema?: string })
    | undefined;
  if (read === undefined) return { problems };
  const { $schema: _, ...definition } = read;
  if (problems.length === 0) problems.push(...contradictions(definition));
  return problems.length > 0 ? { problems } : { definition };
}

export function requireDefinition(json: unknown): ReportDefinition {
  const { definition, problems } = readDefinition(json);
  if (problems) throw new DefinitionError(problems);
  return definition;
}

/** Returns the expression for the segment or set with this name. */
export function expressionOf({ segments, sets = {} }: ReportDefinition, name: string): Expression {
  return Object.hasOwn(segments, name) ? { name } : parseExpression(sets[name]!);
}

const NAME = /^[A-Za-z][A-Za-z0-9_]{0,39}$/;
const EVENT_GROUP = /^dataProviders\/[^/]+\/eventGroups\/[^/]+$/;

function contradictions(definition: ReportDefinition): Violation[] {
  const { segments, sets = {}, groups = {}, interval, budget, figures } = definition;
  const problems: Violation[] = [];
  const report = (field: string, description: string) => problems.push({ field, description });
  const all = Object.keys(segments);
  if (all.length < 1 || all.length > MAX_SEGMENTS)
    report('segments', `must have 1 to ${MAX_SEGMENTS} members`);
  for (const [field, names] of [
    ['segments', all],
    ['sets', Object.keys(sets)],
    ['groups', Object.keys(groups)],
  ] as const) {
    for (const name of names) {
      if (!NAME.test(name))
        report(`${field}[${name}]`, 'must be named with a letter, then letters, digits or _');
    }
  }
  for (const [name, { eventGroups }] of Object.entries(segments)) {
    for (const [i, eventGroup] of eventGroups.entries()) {
      if (EVENT_GROUP.test(eventGroup)) continue;
      report(`segments[${name}].eventGroups[${i}]`, 'must be dataProviders/{id}/eventGroups/{id}');
    }
  }
  for (const [name, expression] of Object.entries(sets)) {
    if (Object.hasOwn(segments, name))
      report(`sets[${name}]`, 'has the name of a segment: choose another name');
    const problem = expressionProblem(expression, all);
    if (problem) report(`sets[${name}]`, problem);
  }
  problems.push(...intervalProblems(interval));
  if ((budget.epsilon === undefined) === (budget.rho === undefined)) {
    report('budget', 'must have either epsilon or rho');
  }
  if (budget.rho !== undefined && !budget.delta)
    report('budget.delta', 'must be above 0 with rho, which is for Gaussian noise');
  for (const [i, figure] of figures.entries())
    problems.push(...figureProblems(definition, figure, `figures[${i}]`));
  return problems;
}

function expressionProblem(text: string, segments: string[]): string | undefined {
  try {
    const unknown = namesIn(parseExpression(text)).find((name) => !segments.includes(name));
    return unknown && `names ${unknown}, which is no segment: use ${segments.join(', ')}`;
  } catch (error) {
    if (error instanceof ExpressionError) return error.message;
    throw error;
  }
}

function intervalProblems({ start, end, timeZone }: LocalInterval): Violation[] {
  if (!isTimeZone(timeZone)) {
    return [{ field: 'interval.timeZone', description: 'must be an IANA time zone, such as Europe/Berlin' }];
  }
  for (const [field, day] of [
    ['start', start],
    ['end', end],
  ] as const) {
    if (parseDay(day) === undefined) {
      return [{ field: `interval.${field}`, description: 'must be a day, such as 2026-07-01' }];
    }
  }
  if (start < end) return [];
  return [
    { field: 'interval.end', description: 'must be after interval.start: it is the day after the last day' },
  ];
}

function figureProblems(definition: ReportDefinition, figure: FigureRequest, path: string): Violation[] {
  const { segments, sets = {}, groups = {} } = definition;
  const problems: Violation[] = [];
  const report = (field: string, description: string) =>
    problems.push({ field: `${path}.${field}`, description });
  // Skip unreadable sets here, because each one is already reported at its own path.
  const isReadable = (name: string) =>
    Object.hasOwn(segments, name) || expressionProblem(sets[name]!, Object.keys(segments)) === undefined;
  for (const [i, name] of figure.of.entries()) {
    if (!Object.hasOwn(segments, name) && !Object.hasOwn(sets, name)) {
      report(`of[${i}]`, `is ${name}, which is neither a segment nor a set`);
    } else if (figure.metric !== 'reach' && isReadable(name) && !isUnion(expressionOf(definition, name))) {
      const why =
        figure.metric === 'frequency'
          ? 'how often people of it were reached'
          : `${figure.metric} of its people`;
      report(
        `of[${i}]`,
        `is ${name}, which is not a union of segments: no measurement tells ${why}. Ask for its reach`,
      );
    }
  }
  if (figure.groups !== undefined && !Object.hasOwn(groups, figure.groups)) {
    report('groups', `is ${figure.groups}, which is not defined in groups`);
  }
  const { precision } = figure;
  const isPercent =
    typeof precision === 'string' && /^\d+(\.\d+)? ?%$/.test(precision) && Number.parseFloat(precision) > 0;
  if (precision !== undefined && !isPercent && !(typeof precision === 'number' && precision > 0)) {
    report('precision', 'must be a percentage such as "2 %", or a number above 0');
  }
  return problems;
}

/** Returns whether the expression combines segments only with `|`. */
export function isUnion(expression: Expression): boolean {
  if ('name' in expression) return true;
  return expression.operator === '|' && isUnion(expression.left) && isUnion(expression.right);
}
