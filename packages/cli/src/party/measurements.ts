/** `mex measurements`: lists, shows, and cancels a consumer's measurements. */
import {
  MEASUREMENT_STATES,
  type Measurement,
  type MeasurementState,
  type Requisition,
} from '@measurement-exchange/contract';
import { duchyProtocolOf } from '@measurement-exchange/sdk';
import { type Command, Option } from 'commander';
import * as calls from '../calls/caller.ts';
import { type CallOptions, group, showResource } from '../calls/command.ts';
import { type ActingOptions, consumerOf, hasKeys, withKeys } from '../calls/keys.ts';
import { paint, print, printFacts, printJson, visible } from '../terminal/output.ts';
import { parseTime, shortTime, timeFacts } from '../terminal/times.ts';
import {
  type AskedMeasurement,
  daysOf,
  pagesWithQuestions,
  partLines,
  partsOf,
  titleOf,
  withQuestion,
} from './questions.ts';
import { resultsCommand } from './results.ts';
import { duchiesOf, specFacts, typeWords } from './spec.ts';
import { latestReports, showTimeline, wholeTimeline } from './timeline.ts';

export function measurementsCommand(): Command {
  return group('measurements', 'what was measured: list, show, results, timeline, cancel', [
    list(),
    show(),
    resultsCommand(),
    one('timeline', 'what happened to it and its requisitions, and why', async ({ client, name }, options) =>
      showTimeline(options, await wholeTimeline(client.getMeasurementTimeline({ name }))),
    ),
    cancel(),
  ]);
}

function one<O extends CallOptions>(
  verb: string,
  description: string,
  work: (call: calls.Caller & { name: string }, options: O) => Promise<void>,
): Command {
  return calls.ownCommand<O>(`${verb} <measurement>`, description, 'measurements', async (call, options) => {
    calls.requireKind('measurementConsumers', call, 'mex measurements');
    await work(call, options);
  });
}

interface Filters extends calls.ListOptions, ActingOptions {
  state?: MeasurementState[];
  reference?: string;
  createdAfter?: string;
  createdBefore?: string;
  updatedAfter?: string;
  updatedBefore?: string;
}

function list(): Command {
  return withKeys(
    calls.listCommand('list', 'list your measurements, newest first; with your keys: titles and days'),
  )
    .addOption(new Option('--state <state...>', 'only in these states').choices(MEASUREMENT_STATES))
    .option('--reference <text>', 'only with this reference, which mex measure --reference stored')
    .option('--created-after <time>', 'a time, a day, or how long ago: 12h, 7d', parseTime)
    .option('--created-before <time>', 'likewise', parseTime)
    .option('--updated-after <time>', 'likewise; the list is then in the order of the changes', parseTime)
    .option('--updated-before <time>', 'likewise', parseTime)
    .action(async (options: Filters) => {
      const caller = await calls.callerOf(options);
      calls.requireKind('measurementConsumers', caller, 'mex measurements');
      const consumer = (await hasKeys(options)) ? (await consumerOf(options)).consumer : undefined;
      const isByUpdate = options.updatedAfter !== undefined || options.updatedBefore !== undefined;
      const listing = caller.client.listMeasurements({
        parent: caller.principal,
        ...calls.pageSizeOf(options),
        'filter.states': options.state,
        'filter.measurementReferenceId': options.reference,
        'filter.createdAfter': options.createdAfter,
        'filter.createdBefore': options.createdBefore,
        'filter.updatedAfter': options.updatedAfter,
        'filter.updatedBefore': options.updatedBefore,
        ...(!isByUpdate && { orderBy: 'createTime desc' }),
      });
      const pages = pagesWithQuestions(consumer, listing.pages());
      await calls.showPages(options, pages, (page) => page.measurements, {
        headings: [
          ...['NAME', 'STATE', 'MEASURES', 'CREATED (UTC)'],
          ...[...(consumer ? ['DAYS'] : []), 'PROVIDERS', 'REFERENCE', ...(consumer ? ['TITLE'] : [])],
        ],
        row: (m) => [
          ...[calls.idIn(m.name!), m.state, typeWords(m.protocolConfig?.measurementType)],
          ...[shortTime(m.createTime), ...(consumer ? [m.question && daysOf(m.question)] : [])],
          ...[providersOf(m), m.measurementReferenceId, ...(consumer ? [titleOf(m)] : [])],
        ],
        none: `${caller.principal} has no such measurement: see mex measure --help to create one.`,
      });
    });
}

function providersOf({ dataProviders = {} }: Measurement): string {
  return Object.keys(dataProviders).map(calls.idIn).join(', ');
}

function show(): Command {
  const command = one<ActingOptions>(
    'show',
    'its state, its requisitions, and what to do next; with your keys: the whole question',
    async ({ client, name, principal }, options) => {
      const consumer = (await hasKeys(options)) ? (await consumerOf(options)).consumer : undefined;
      const measurement = await withQuestion(consumer, await client.getMeasurement({ name }));
      if (options.json) return printJson(measurement);
      const requisitions = await Array.fromAsync(client.listMeasurementRequisitions({ parent: name }));
      describe(measurement, consumer !== undefined);
      for (const requisition of requisitions) {
        print(`  ${requisitionLine(requisition)}`);
        const asked = measurement.question?.dataProviders.find((p) => p.name === requisition.dataProvider);
        const lines = asked ? await partLines(client, principal, partsOf(asked)) : [];
        for (const line of lines) print(`    ${line}`);
      }
      if (measurement.state === 'COMPUTING') {
        const { progress = [] } = await client.getMeasurementTimeline({ name, pageSize: 1 }).page();
        for (const [duchy, report] of latestReports(progress)) print(`  ${duchy}  ${report}`);
      }
      print(`\n${nextStep(measurement, options)}`);
    },
  );
  return withKeys(command);
}

function describe(m: AskedMeasurement, isKeyed: boolean): void {
  const { question, questionError } = m;
  const isSealed = m.encryptedQuestion !== undefined && !isKeyed;
  printFacts(m.name!, {
    title: question?.title && visible(question.title),
    state: m.state,
    ...specFacts(m.measurementSpec?.message),
    days: question && daysOf(question),
    question: questionError
      ? visible(`rejected: ${questionError.message} (${questionError.code})`)
      : isSealed
        ? 'sealed for you: with --identity and --root, it is shown'
        : undefined,
    protocol: duchyProtocolOf(m.protocolConfig)?.protocol,
    'computed by': computedBy(m),
    reference: m.measurementReferenceId && visible(m.measurementReferenceId),
    ...timeFacts(m),
    removed: m.deleteTime && `${shortTime(m.deleteTime)} UTC: only name, state and times are left`,
    failure: m.failure && visible(`${m.failure.reason}: ${m.failure.message}`),
  });
}

function computedBy({ protocolConfig }: Measurement): string | undefined {
  const duchies = duchiesOf(protocolConfig);
  return duchies.length === 0 ? undefined : `${duchies.join(', ')}: everybody counted once`;
}

function requisitionLine({ dataProvider, name, state, refusal }: Requisition): string {
  const why = refusal === undefined ? '' : ` (${refusal.justification}) ${refusal.message ?? ''}`;
  return visible(`${dataProvider ?? name}  ${state}${why}`.trimEnd());
}

function nextStep({ name, state, deleteTime }: Measurement, options: CallOptions): string {
  const next = (command: string) => calls.nextCommand(options, command);
  if (deleteTime !== undefined) return 'Its contents were removed by the retention of the exchange.';
  if (state === 'SUCCEEDED') return `The figures: ${next(`measurements results ${name}`)}`;
  if (state === 'FAILED') return `It ended for good. What happened: ${next(`measurements timeline ${name}`)}`;
  if (state === 'CANCELLED') return 'It was cancelled, for good.';
  return `It is not complete yet. To wait: ${next(`measurements results ${name} --wait`)}`;
}

function cancel(): Command {
  return one('cancel', 'end one that is not complete, for good', async ({ client, name }, options) =>
    showResource(
      options,
      await client.cancelMeasurement({ name }),
      ({ state }) => `${name} is ${paint('bold', state)}; the requisitions that were open are withdrawn.`,
    ),
  );
}
