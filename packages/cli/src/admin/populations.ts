/**
 * `mex admin populations`: creates populations, and assigns model lines to them. The default population is for
 * measurements without a model line.
 */
import {
  decode,
  type JsonObject,
  type PopulationInput,
  PopulationUpdate,
  type VidRange,
  type Violation,
} from '@measurement-exchange/contract';
import { canonicalRanges } from '@measurement-exchange/contract/population';
import { type Command, InvalidArgumentError } from 'commander';
import { type CallOptions, given, group, remote, showResource } from '../calls/command.ts';
import { connect } from '../connection/client.ts';
import { readJson } from '../files/input.ts';
import { describePopulation, populationName } from '../party/populations.ts';

export function populationsCommand(): Command {
  return group('populations', 'the virtual people that can be counted across data providers', [
    create(),
    update(),
  ]);
}

interface Changes extends CallOptions {
  displayName?: string;
  modelLine?: string[];
  default?: boolean;
}

function changesOf({ displayName, modelLine: modelLines, default: isDefault }: Changes) {
  return given({ displayName, modelLines, default: isDefault });
}

function create(): Command {
  return remote('create [id]', 'make a population; its ranges never change')
    .option('--range <start-end...>', 'VIDs from start to end, both included: 1-1000000', parseRange)
    .option('--ranges <file>', 'a JSON file instead: [{"start": 1, "end": 1000000}, …]')
    .option('--subpopulations <file>', 'a JSON file with the attributes of its people, see below')
    .option('--display-name <text>', 'the name people know it by')
    .option('--model-line <name...>', 'measurements of these model lines count its people')
    .option('--default', 'measurements without a model line count its people')
    .addHelpText(
      'after',
      `
All data providers must label people with VIDs of these ranges, by the same model.

  mex admin populations create adults --range 1-60000000 --default

With --subpopulations, filters can select people by their attributes (person.age == "18-34"), and a report can have a figure
for each group. The file is a list; no VID is in two of its entries. Without --range, they are the whole population.

  [{"attributes": [{"name": "age", "value": "18-34"}], "vidRanges": [{"start": 1, "end": 1000000}]}, …]`,
    )
    .action(async (id: string | undefined, options: Changes & People) => {
      const population = await (await connect(options)).createPopulation({
        ...given({ populationId: id }),
        body: { ...changesOf(options), ...(await peopleOf(options)) },
      });
      showResource(options, population, describePopulation);
    });
}

function parseRange(text: string, before: VidRange[] = []): VidRange[] {
  const [, start, end] = /^(\d{1,10})-(\d{1,10})$/.exec(text) ?? [];
  if (start === undefined) throw new InvalidArgumentError('Write the first and the last VID: 1-1000000.');
  return [...before, { start: Number(start), end: Number(end) }];
}

interface People {
  range?: VidRange[];
  ranges?: string;
  subpopulations?: string;
}

type PeopleInput = Pick<PopulationInput, 'vidRanges' | 'subpopulations'>;

async function peopleOf({ range, ranges, subpopulations: file }: People): Promise<PeopleInput> {
  if (range !== undefined && ranges !== undefined) throw rangesNeeded();
  const listed = await readRanges(ranges);
  if (file === undefined) return { vidRanges: range ?? listed ?? fail(rangesNeeded()) };
  const subpopulations = await readJson(file, 'a JSON file of subpopulations');
  const read = decodePeople(file, { subpopulations }).subpopulations!;
  return { vidRanges: range ?? listed ?? allRangesOf(file, read), subpopulations: read };
}

const rangesNeeded = () =>
  new Error('Give the VIDs of its people: either --range 1-1000000, or --ranges with a file.');

async function readRanges(file: string | undefined): Promise<VidRange[] | undefined> {
  if (file === undefined) return undefined;
  return decodePeople(file, { vidRanges: await readJson(file, 'a JSON file of ranges') }).vidRanges;
}

function allRangesOf(file: string, subpopulations: readonly { vidRanges: VidRange[] }[]): VidRange[] {
  try {
    return canonicalRanges(subpopulations.flatMap(({ vidRanges }) => vidRanges));
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}.`);
  }
}

function decodePeople(file: string, people: JsonObject): PopulationUpdate {
  const violations: Violation[] = [];
  const input = decode(PopulationUpdate, people, violations);
  if (input !== undefined) return input;
  throw new Error(`${file}: ${violations[0]!.field} ${violations[0]!.description}.`);
}

function fail(error: Error): never {
  throw error;
}

function update(): Command {
  return remote('update <population>', 'change a population; fields without an option stay')
    .option('--display-name <text>', 'the name people know it by')
    .option('--model-line <name...>', 'measurements of these model lines count its people, and of no others')
    .option('--no-model-lines', 'it has no model lines any more')
    .option('--default', 'measurements without a model line count its people, no longer those of another one')
    .option('--no-default', 'measurements without a model line do not count its people')
    .action(async (text: string, options: Changes & { modelLines: boolean }) => {
      if (!options.modelLines && options.modelLine) {
        throw new Error('--model-line and --no-model-lines contradict each other: give one of them.');
      }
      const body = { ...changesOf(options), ...(!options.modelLines && { modelLines: [] }) };
      if (Object.keys(body).length === 0) {
        throw new Error('Nothing to change: give --display-name, --model-line or --default.');
      }
      const population = await (await connect(options)).updatePopulation({
        name: populationName(text),
        body,
      });
      showResource(options, population, describePopulation);
    });
}
