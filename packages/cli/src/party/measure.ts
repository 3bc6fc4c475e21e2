/** `mex measure`: creates a measurement, waits for it, and prints the result. */
import { PROTOCOLS } from '@measurement-exchange/contract';
import {
  asCreated,
  type Consumer,
  FilterRejected,
  type MeasurementPlan,
  type MeasurementRequest,
} from '@measurement-exchange/sdk';
import { Argument, type Command, Option } from 'commander';
import { nextCommand } from '../calls/caller.ts';
import { given, positiveInteger, remote } from '../calls/command.ts';
import { consumerOf, withKeys } from '../calls/keys.ts';
import type { Acting } from '../connection/credentials.ts';
import { note, print, printJson, visible } from '../terminal/output.ts';
import { parseTime } from '../terminal/times.ts';
import { EXIT_CODES_HELP, explainEnd } from './failure.ts';
import {
  type Asked,
  inOptions,
  parseFilter,
  parseNumber,
  parseProvider,
  parseSampling,
  parseSeconds,
  type Question,
  questionIn,
  questionOf,
  TYPES,
} from './measureRequest.ts';
import { filterText, notePlan } from './plan.ts';
import { interruptible, showWhenDone, type WaitingOptions, withTimeout } from './results.ts';

interface MeasureOptions extends Asked, WaitingOptions {
  spec?: string;
  wait: boolean;
  dryRun?: boolean;
  expect?: number;
}

export function measureCommand(): Command {
  const command = remote('measure', 'ask providers for a figure, wait, and print it with its 95 % interval');
  withKeys(command)
    .addArgument(new Argument('[type]', 'what to measure').choices(Object.keys(TYPES)))
    .optionsGroup('What is asked:')
    .option(
      '--provider <provider>',
      'whom to ask, repeated for several; :group,group for some of its event groups (else all)',
      parseProvider,
    )
    .option('--from <time>', 'from this day (midnight UTC) or time on', parseTime)
    .option('--to <time>', 'up to and without this day or time', parseTime)
    .option(
      '--filter <cel>',
      "only events (of a population: people) that match, such as 'age > 30'",
      parseFilter,
    )
    .option(
      '--max-frequency <count>',
      'frequency: the last bar, this often or more (10); impressions: of one person',
      positiveInteger,
    )
    .option(
      '--max-watch-duration <time>',
      'duration: of one person at most, such as 90s, 5m or 1h',
      parseSeconds,
    )
    .option(
      '--sampling <start,width>',
      'count a part of the people, such as 0,0.5 (all); 0.75,0.5 continues at 0, where duchies compute',
      parseSampling,
    )
    .option('--model-line <name>', 'the model line that assigned people to events')
    .addOption(
      new Option('--protocol <name>', 'the protocol to try first (the exchange chooses)').choices(PROTOCOLS),
    )
    .option('--title <text>', 'a title, which only you can read: mex measurements list shows it')
    .option('--reference <text>', 'your own reference, stored with the measurement')
    .option('--request-id <id>', 'makes the command idempotent: a repetition returns the same measurement')
    .option('--spec <file>', 'the whole request as JSON (- for standard input), instead of the options above')
    .optionsGroup('Privacy:')
    .option(
      '--epsilon <number>',
      'of the noise: smaller is noisier, and spends less of the providers’ budgets',
      parseNumber,
      0.1,
    )
    .option('--delta <number>', 'of the noise', parseNumber, 1e-9)
    .option(
      '--frequency-epsilon <number>',
      'of the frequency distribution (as --epsilon, spent a second time)',
      parseNumber,
    )
    .option('--frequency-delta <number>', 'likewise', parseNumber)
    .optionsGroup('Waiting:');
  withTimeout(command)
    .option('--no-wait', 'only create it; mex measurements results shows the figures later')
    .option(
      '--dry-run',
      'print the plan, and the request as JSON, which --spec takes; create nothing (--json: both as JSON)',
    )
    .option(
      '--expect <count>',
      'what the figure may be: the plan says ± for it, where that depends on it (half of the population)',
      positiveInteger,
    )
    .addHelpText('after', HELP);
  // In the help, move the options that all commands share to the end, so that the options of the request come first.
  const options = command.options as Option[];
  options.push(
    ...options.splice(
      0,
      options.findIndex((option) => option.long === '--provider'),
    ),
  );
  return command.action(measure);
}

/** The options that say what is asked, by their names in Commander. */
const REQUEST_OPTIONS =
  'from to filter maxFrequency maxWatchDuration sampling modelLine protocol title reference requestId epsilon delta frequencyEpsilon frequencyDelta'.split(
    ' ',
  );

/** Throws if `--spec` is given together with an option that it would ignore. */
function requireOnlySpec(command: Command): void {
  const ignored = (command.options as Option[])
    .filter((option) => REQUEST_OPTIONS.includes(option.attributeName()))
    .filter((option) => command.getOptionValueSource(option.attributeName()) === 'cli')
    .map(({ long }) => long);
  if (ignored.length === 0) return;
  throw new Error(`--spec is the whole request: leave out ${ignored.join(', ')}, or put it into the file.`);
}

async function measure(type: string | undefined, options: MeasureOptions, command: Command): Promise<void> {
  const isSpec = options.spec !== undefined && type === undefined && options.provider === undefined;
  if (isSpec) requireOnlySpec(command);
  const acting = await consumerOf(options);
  const question = await questionFrom(acting, type, options);
  const plan = await planOf(acting, question, options);
  if (options.dryRun) printJson(options.json ? { request: question.request, plan } : question.request);
  requireAccepted(plan);
  if (options.dryRun) return;
  const measurement = await interruptible(
    (signal) => plan.create({ signal }),
    `It may have been created: ${nextCommand(options, 'measurements list --created-after 5m')}`,
  ).catch((error) => {
    throw explainEnd(error, options);
  });
  const name = measurement.name!;
  if (!options.wait) {
    // Without --json, print only the name, so that scripts can use the output.
    if (options.json) printJson({ ...measurement, plan });
    else print(name);
    note(`Its figures: ${nextCommand(options, `measurements results ${name} --wait`, options)}`);
    return;
  }
  await showWhenDone(acting.consumer, name, options, async (done) => ({
    ...(await acting.consumer.open(asCreated(done, measurement))),
    plan,
  }));
}

async function planOf(
  { consumer }: { consumer: Consumer },
  { request, eventGroups }: Question,
  options: MeasureOptions,
): Promise<MeasurementPlan> {
  const assumed = options.expect;
  const plan = await interruptible(
    (signal) => consumer.plan(request, { eventGroups, signal, ...given({ assumed }) }),
    'Nothing was created.',
  ).catch((error) => {
    if (error instanceof FilterRejected) throw new Error(filterText(error));
    throw explainEnd(options.spec === undefined ? inOptions(error) : error, options);
  });
  notePlan(plan);
  noteOtherProtocol(request, plan);
  return plan;
}

/**
 * Throws if the caller's settings would reject the result, for example because a duchy is not trusted. The measurement
 * is then not created.
 */
function requireAccepted({ rejection }: MeasurementPlan): void {
  if (rejection === undefined) return;
  const { code, message, duchies } = rejection;
  const roots = duchies.map((duchy) => `--root ${duchy}=<file>`);
  throw new Error(
    [
      `The result would not be accepted: ${visible(message)} (${code})`,
      ...(roots.length > 0
        ? [`  To accept these duchies, with the root of each from its operator: ${roots.join(' ')}`]
        : []),
      '  Nothing was created.',
    ].join('\n'),
  );
}

/** Tells the user if the exchange would not use the requested protocol. A finding in the plan says why. */
function noteOtherProtocol({ protocol }: MeasurementRequest, plan: MeasurementPlan): void {
  if (protocol === undefined || protocol === plan.protocol) return;
  note(`${protocol} is not possible here, and ${plan.protocol} is used.`);
}

async function questionFrom(
  { client, credentials }: Acting,
  type: string | undefined,
  options: MeasureOptions,
): Promise<Question> {
  if (options.spec !== undefined) {
    if (type === undefined && options.provider === undefined) {
      return questionIn(options.spec, client, credentials.name);
    }
    throw new Error('--spec is the whole request: leave out the type and --provider, or leave out --spec.');
  }
  if (type !== undefined) return questionOf(client, credentials.name, TYPES[type]!, options);
  throw new Error(
    `What is to be measured? mex measure <type>: ${Object.keys(TYPES).join(', ')}; or --spec with a file.`,
  );
}

const HELP = `
  mex measure reach --as acme --provider streamly --from 2026-01-01 --to 2026-02-01
  mex measure frequency --as acme --provider streamly --provider chirper --from 2026-01-01 --to 2026-02-01 \\
      --filter 'age_group == "18-34"' --epsilon 0.5 --max-frequency 15
  mex measure reach --as acme --provider streamly --provider chirper --from 2026-01-01 --to 2026-02-01 \\
      --protocol reachOnlyLiquidLegionsV2
  mex measure impressions --as acme --provider streamly:spring-video --from 2026-01-01 --to 2026-02-01 --max-frequency 20
  mex measure population --as acme --provider streamly --filter 'sex == "F"'
  mex measure --as acme --spec request.json --json

Impressions and watch durations of several providers add up. Reaches do not: where the exchange has duchies that
compute it, the reach of all together is shown, with everybody counted once; else each provider's own reach, and the
bounds of the reach of all. You choose the duchies that may compute it: --root duchies/x=x.pem for each.
--protocol asks for one of their protocols, or for direct; where it does not fit, another one is taken.

Before it creates anything, mex measure asks the exchange what it would do, and prints that plan: the protocol and its
duchies, what the exchange finds wrong, how far off each figure may be (± 95 %), and the charge to each provider's budget.
It creates nothing if you do not accept the duchies, if a provider or an event group does not exist, or if the filter is
wrong: its syntax, or, where a provider publishes its attributes, a name or a type. A warning, such as of an epsilon far
outside of what providers usually allow, stops nothing: providers publish neither their limits nor what is left of their
budgets, so that only they can decide. --dry-run shows the warnings first. The ± is that of the noise which
providers usually add (Gaussian with a delta, else geometric); a provider may choose the other one.

--json prints the result: {measurement, type, dataProviders: [{name, reach: {value, variance, standardDeviation,
interval}, …}], total: {…, deduplicated: {reach, frequency, aggregator, workers}}, plan: {protocol,
duchies, findings, figures, dataProviders, warnings}}; an unknown variance is null. When the measurement failed, the measurement itself is printed.
${EXIT_CODES_HELP}`;
