/** `mex measurements`: the measurements of a consumer. */
import {
  MEASUREMENT_STATES,
  type Measurement,
  type MeasurementState,
  type Requisition,
} from '@measurement-exchange/contract';
import { duchyProtocolOf } from '@measurement-exchange/sdk';
import { type Command, Option } from 'commander';
import {
  type Caller,
  callerOf,
  type ListOptions,
  listCommand,
  nameBelow,
  nextCommand,
  pageSizeOf,
  requireKind,
  showPages,
  showResource,
} from '../calls/caller.ts';
import { type CallOptions, group, remote } from '../calls/command.ts';
import { paint, print, printFacts, visible } from '../terminal/output.ts';
import { parsePast, shortTime } from '../terminal/times.ts';
import { resultsCommand } from './results.ts';
import { duchiesOf, specFacts, typeWords } from './spec.ts';
import { latestReports, showTimeline, wholeTimeline } from './timeline.ts';

export function measurementsCommand(): Command {
  return group('measurements', 'what was measured: list, show, results, timeline, cancel', [
    list(),
    show(),
    resultsCommand(),
    timeline(),
    cancel(),
  ]);
}

/** The caller, and the full name of the measurement. */
export async function measurementOf(text: string, options: CallOptions): Promise<Caller & { name: string }> {
  const caller = await callerOf(options);
  requireKind('measurementConsumers', caller, 'mex measurements');
  return { ...caller, name: nameBelow(caller.principal, 'measurements', text) };
}

interface Filters extends ListOptions {
  state?: MeasurementState[];
  createdAfter?: string;
  createdBefore?: string;
  updatedAfter?: string;
  updatedBefore?: string;
}

function list(): Command {
  return listCommand('list', 'list your measurements, oldest first')
    .addOption(new Option('--state <state...>', 'only in these states').choices(MEASUREMENT_STATES))
    .option('--created-after <time>', 'a time, a day, or how long ago: 12h, 7d', parsePast)
    .option('--created-before <time>', 'likewise', parsePast)
    .option('--updated-after <time>', 'likewise; the list is then in the order of the changes', parsePast)
    .option('--updated-before <time>', 'likewise', parsePast)
    .action(async (options: Filters) => {
      const caller = await callerOf(options);
      requireKind('measurementConsumers', caller, 'mex measurements');
      const listing = caller.client.listMeasurements({
        parent: caller.principal,
        ...pageSizeOf(options),
        ...(options.state && { 'filter.states': options.state }),
        ...(options.createdAfter && { 'filter.createdAfter': options.createdAfter }),
        ...(options.createdBefore && { 'filter.createdBefore': options.createdBefore }),
        ...(options.updatedAfter && { 'filter.updatedAfter': options.updatedAfter }),
        ...(options.updatedBefore && { 'filter.updatedBefore': options.updatedBefore }),
      });
      await showPages(options, listing.pages(), (page) => page.measurements, {
        headings: ['NAME', 'STATE', 'MEASURES', 'PROVIDERS', 'REFERENCE', 'CREATED (UTC)'],
        row: (m) => [
          m.name,
          m.state,
          typeWords(m.protocolConfig?.measurementType),
          String(Object.keys(m.dataProviders ?? {}).length),
          m.measurementReferenceId,
          shortTime(m.createTime),
        ],
        none: `${caller.principal} has no such measurement: see mex measure --help to create one.`,
      });
    });
}

function show(): Command {
  return remote('show <measurement>', 'its state, its requisitions, and what to do next').action(
    async (text: string, options: CallOptions) => {
      const { client, name } = await measurementOf(text, options);
      const measurement = await client.getMeasurement({ name });
      if (options.json) return showResource(options, measurement, () => {});
      const requisitions = await Array.fromAsync(client.listMeasurementRequisitions({ parent: name }));
      describe(measurement);
      for (const requisition of requisitions) print(`  ${requisitionLine(requisition)}`);
      if (measurement.state === 'COMPUTING') {
        const { progress = [] } = await client.getMeasurementTimeline({ name, pageSize: 1 }).page();
        for (const [duchy, report] of latestReports(progress)) print(`  ${duchy}  ${report}`);
      }
      print(`\n${nextStep(measurement, options)}`);
    },
  );
}

function describe(m: Measurement): void {
  printFacts(m.name!, {
    state: m.state,
    ...specFacts(m.measurementSpec?.message),
    protocol: duchyProtocolOf(m.protocolConfig)?.protocol,
    'computed by': computedBy(m),
    reference: m.measurementReferenceId && visible(m.measurementReferenceId),
    created: `${shortTime(m.createTime)} UTC`,
    updated: `${shortTime(m.updateTime)} UTC`,
    removed: m.deleteTime && `${shortTime(m.deleteTime)} UTC: only name, state and times are left`,
    failure: m.failure && visible(`${m.failure.reason}: ${m.failure.message}`),
  });
}

/** Which duchies compute it, with everybody counted once; undefined where each provider does by itself. */
function computedBy({ protocolConfig }: Measurement): string | undefined {
  const duchies = duchiesOf(protocolConfig);
  return duchies.length === 0 ? undefined : `${duchies.join(', ')}: everybody counted once`;
}

/** The requisition of one provider, in a line. */
export function requisitionLine({ dataProvider, name, state, refusal }: Requisition): string {
  const why = refusal === undefined ? '' : ` (${refusal.justification}) ${refusal.message ?? ''}`;
  return visible(`${dataProvider ?? name}  ${state}${why}`.trimEnd());
}

function nextStep({ name, state, deleteTime }: Measurement, options: CallOptions): string {
  const next = (command: string) => nextCommand(options, command);
  if (deleteTime !== undefined) return 'Its contents were removed by the retention of the exchange.';
  if (state === 'SUCCEEDED') return `The figures: ${next(`measurements results ${name}`)}`;
  if (state === 'FAILED') return `It ended for good. What happened: ${next(`measurements timeline ${name}`)}`;
  if (state === 'CANCELLED') return 'It was cancelled, for good.';
  return `It is not complete yet. To wait: ${next(`measurements results ${name} --wait`)}`;
}

function timeline(): Command {
  return remote('timeline <measurement>', 'what happened to it and its requisitions, and why').action(
    async (text: string, options: CallOptions) => {
      const { client, name } = await measurementOf(text, options);
      showTimeline(options, await wholeTimeline(client.getMeasurementTimeline({ name })));
    },
  );
}

function cancel(): Command {
  return remote('cancel <measurement>', 'end one that is not complete, for good').action(
    async (text: string, options: CallOptions) => {
      const { client, name } = await measurementOf(text, options);
      const measurement = await client.cancelMeasurement({ name });
      showResource(options, measurement, ({ state }) =>
        print(`${name} is ${paint('bold', state)}; the requisitions that were open are withdrawn.`),
      );
    },
  );
}
