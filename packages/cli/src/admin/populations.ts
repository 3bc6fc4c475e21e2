/** `mex admin populations`: creates populations, and sets which measurements count the people in each population. */
import { decode, PopulationInput, type VidRange, type Violation } from '@measurement-exchange/contract';
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
    .option('--display-name <text>', 'the name people know it by')
    .option('--model-line <name...>', 'measurements of these model lines count its people')
    .option('--default', 'measurements without a model line count its people')
    .addHelpText(
      'after',
      `
All data providers must label people with VIDs of these ranges, by the same model.

  mex admin populations create adults --range 1-60000000 --default`,
    )
    .action(async (id: string | undefined, options: Changes & { range?: VidRange[]; ranges?: string }) => {
      const vidRanges = await rangesOf(options);
      const population = await (await connect(options)).createPopulation({
        ...given({ populationId: id }),
        body: { ...changesOf(options), vidRanges },
      });
      showResource(options, population, describePopulation);
    });
}

function parseRange(text: string, before: VidRange[] = []): VidRange[] {
  const [, start, end] = /^(\d{1,10})-(\d{1,10})$/.exec(text) ?? [];
  if (start === undefined) throw new InvalidArgumentError('Write the first and the last VID: 1-1000000.');
  return [...before, { start: Number(start), end: Number(end) }];
}

async function rangesOf({ range, ranges }: { range?: VidRange[]; ranges?: string }): Promise<VidRange[]> {
  if ((range === undefined) === (ranges === undefined)) {
    throw new Error('Give the VIDs of its people: either --range 1-1000000, or --ranges with a file.');
  }
  if (range !== undefined) return range;
  const violations: Violation[] = [];
  const vidRanges = await readJson(ranges!, 'a JSON file of ranges');
  const input = decode(PopulationInput, { vidRanges }, violations);
  if (input === undefined)
    throw new Error(`${ranges}: ${violations[0]!.field} ${violations[0]!.description}.`);
  return input.vidRanges;
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
