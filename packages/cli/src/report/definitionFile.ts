/** Reads report definitions from YAML or JSON files, and converts definitions to YAML. */
import { readFile } from 'node:fs/promises';
import { type ReportDefinition, readDefinition } from '@measurement-exchange/reports';
import { Document, isScalar, isSeq, parse, YAMLParseError } from 'yaml';
import { visible } from '../terminal/output.ts';

/** The name of the JSON schema file in the folder of a definition. Editors use this schema for completion. */
export const SCHEMA_FILE = 'report.schema.json';

/** Resolves a short form, such as `northlight:autumn-video`, to the full names of event groups. */
type Resolve = (short: string) => Promise<string[]>;

/** Reads a definition, in which event groups may have short forms. Returns undefined if the file does not exist. */
export async function readDefinitionFile(
  file: string,
  resolve: Resolve,
): Promise<ReportDefinition | undefined> {
  let text: string;
  try {
    text = await readFile(file === '-' ? '/dev/stdin' : file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new Error(`${file} cannot be read (${code}): give the definition of a report, as YAML or JSON.`);
  }
  const { $schema: _, ...json } = parsed(file, text);
  const { definition, problems } = readDefinition(await withFullNames(json, resolve));
  if (definition) return definition;
  const lines = problems.map(({ field, description }) => visible(`  ${field} ${description}.`));
  throw new Error(`${file} is not the definition of a report:\n${lines.join('\n')}`);
}

/**
 * Replaces the short forms of event groups with full names. Throws if a short form is unknown. All other problems in
 * the definition are reported later, when it is validated.
 */
async function withFullNames(
  json: Record<string, unknown>,
  resolve: Resolve,
): Promise<Record<string, unknown>> {
  const { segments } = json;
  if (typeof segments !== 'object' || segments === null) return json;
  const resolved = Object.entries(segments).map(async ([name, segment]) => {
    const groups: unknown = segment?.eventGroups;
    if (!Array.isArray(groups)) return [name, segment];
    const names = groups.map((group) => (isShort(group) ? resolve(group) : [group]));
    const eventGroups = await Promise.all(names).catch((error) => {
      throw new Error(`segments.${name}: ${error.message}`, { cause: error });
    });
    return [name, { ...segment, eventGroups: eventGroups.flat() }];
  });
  return { ...json, segments: Object.fromEntries(await Promise.all(resolved)) };
}

const isShort = (group: unknown): group is string =>
  typeof group === 'string' && !group.includes('/eventGroups/');

/** Limits how often YAML aliases are expanded, so that a small file cannot become a huge definition. */
const MAX_ALIASES = 100;

function parsed(file: string, text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = parse(text, { maxAliasCount: MAX_ALIASES });
  } catch (error) {
    if (!(error instanceof YAMLParseError || error instanceof ReferenceError)) throw error;
    throw new Error(`${file} is neither YAML nor JSON: ${visible(error.message)}`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new Error(`${file} does not have the members of a report: mex report define writes an example.`);
}

/** Returns the definition as YAML. `describe` returns the comment for an event group, or undefined for no comment. */
export function toYaml(
  definition: ReportDefinition,
  describe: (eventGroup: string) => string | undefined,
): string {
  const document = new Document(definition);
  document.commentBefore = ` yaml-language-server: $schema=${SCHEMA_FILE}\n${ABOUT}`;
  for (const name of Object.keys(definition.segments)) {
    const groups = document.getIn(['segments', name, 'eventGroups']);
    if (!isSeq(groups)) continue;
    for (const item of groups.items) {
      const comment = isScalar(item) ? describe(String(item.value)) : undefined;
      if (isScalar(item) && comment !== undefined) item.comment = ` ${comment}`;
    }
  }
  for (const index of definition.figures.keys()) {
    const of = document.getIn(['figures', index, 'of']);
    if (isSeq(of)) of.flow = true;
  }
  return document.toString({ lineWidth: 120 });
}

const ABOUT = ` A report: edit it, then mex report plan and mex report run with this file.
 segments  events of one publisher or several; filter selects some of them, such as device == "tv"
 sets      segments combined with |, & and -, with parentheses where operators differ
 groups    breakdowns by attributes of the population, such as  byAge: {by: [age]}
 figures   reach, frequency, impressions or watchDuration of segments and sets; periods are total, daily or weekly(MONDAY);
           precision is the wanted half-width of the 95 % interval, such as "2 %" or 500
 budget    the most that each publisher may be charged for each event group and day`;
