/** Checks the input of the companion's methods. */
import { decode, type JsonValue, type Violation } from '@measurement-exchange/contract';
import * as s from '@measurement-exchange/contract/schema';
import { CompanionFailure } from './failure.ts';

const MAX_NAMES = 100;
const nothing = s.object({});
const request = s.anyJson('A MeasurementRequest, which the SDK checks.');
const definition = s.anyJson('A ReportDefinition, which the method checks.');

/** The schema of each method's input. Unknown fields are rejected. */
export const INPUTS = {
  about: nothing,
  questions: s.object({ names: s.array(s.nameOf('measurement'), { maxItems: MAX_NAMES }) }),
  searchTitles: s.object({ text: s.text(200), limit: s.optional(s.integer(1, MAX_NAMES)) }),
  plan: s.object({ request, assumed: s.optional(s.integer(1, Number.MAX_SAFE_INTEGER)) }),
  create: s.object({ request }),
  result: s.object({ name: s.nameOf('measurement') }),
  eventGroupMetadata: s.object({
    names: s.array(s.nameOf('measurementConsumerEventGroup'), { maxItems: MAX_NAMES }),
  }),
  planReport: s.object({ definition }),
  createReport: s.object({ definition }),
  runReport: s.object({ name: s.nameOf('report') }),
  report: s.object({ name: s.nameOf('report') }),
  reportDefinitions: s.object({ names: s.array(s.nameOf('report'), { maxItems: MAX_NAMES }) }),
  exportReport: s.object({ name: s.nameOf('report'), format: s.enumOf(['csv', 'json', 'html']) }),
  requisition: s.object({ name: s.nameOf('requisition') }),
  budget: nothing,
  agent: nothing,
};

/** Returns the input. Throws if it violates the schema, or if a name in it does not belong to the party. */
export function readInput<S extends s.TSchema>(schema: S, input: unknown, party: string): s.Static<S> {
  const violations: Violation[] = [];
  const read = decode(schema, (input ?? {}) as JsonValue, violations);
  if (read === undefined) {
    const problems = violations.map(({ field, description }) => `${field || 'The input'} ${description}.`);
    throw new CompanionFailure(400, 'INPUT_INVALID', problems.join(' '), { violations });
  }
  const { name, names = name === undefined ? [] : [name] } = read as { name?: string; names?: string[] };
  const foreign = names.find((each) => !each.startsWith(`${party}/`));
  if (foreign !== undefined) {
    throw new CompanionFailure(403, 'NAME_FOREIGN', `${foreign} does not belong to ${party}.`);
  }
  return read;
}
