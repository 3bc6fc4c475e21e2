/** `mex computations`: shows the measurements that a duchy helps to compute. */
import { COMPUTATION_STATES, type Computation, type ComputationState } from '@measurement-exchange/contract';
import { type Command, Option } from 'commander';
import * as calls from '../calls/caller.ts';
import { given, group, showResource } from '../calls/command.ts';
import { print, printFacts, visible } from '../terminal/output.ts';
import { parseTime, shortTime, timeFacts } from '../terminal/times.ts';
import { specFacts, typeWords } from './spec.ts';

export function computationsCommand(): Command {
  return group('computations', 'the computations of a duchy: list, show', [list(), show()]);
}

interface Filters extends calls.ListOptions {
  state?: ComputationState[];
  updatedAfter?: string;
}

function list(): Command {
  return calls
    .listCommand('list', 'list those of a duchy, by the time of their last change')
    .addOption(new Option('--state <state...>', 'only in these states').choices(COMPUTATION_STATES))
    .option('--updated-after <time>', 'a time, a day, or how long ago: 12h, 7d', parseTime)
    .action(async (options: Filters) => {
      const caller = await calls.callerOf(options);
      calls.requireKind('duchies', caller, 'mex computations list');
      const listing = caller.client.listComputations({
        parent: caller.principal,
        ...calls.pageSizeOf(options),
        ...given({ 'filter.states': options.state, 'filter.updatedAfter': options.updatedAfter }),
      });
      await calls.showPages(options, listing.pages(), (page) => page.computations, {
        headings: ['NAME', 'STATE', 'ROLE', 'MEASURES', 'WAITS FOR', 'UPDATED (UTC)'],
        row: (c) => [
          calls.idIn(c.name!),
          c.state,
          c.role,
          typeWords(c.protocolConfig.measurementType),
          waitsFor(c),
          shortTime(c.updateTime),
        ],
        none: `${caller.principal} has no such computation.`,
      });
    });
}

function show(): Command {
  return calls.ownCommand(
    'show <computation>',
    'its parties, its progress, and the parties that it waits for',
    'computations',
    async ({ name, ...caller }, options) => {
      calls.requireKind('duchies', caller, 'mex computations show');
      showResource(options, await caller.client.getComputation({ name }), (c) => {
        printFacts(c.name!, {
          state: c.state,
          role: c.role,
          'waits for': waitsFor(c),
          consumer: c.measurementConsumer,
          ...specFacts(c.measurementSpec.message),
          failure: c.failure && visible(`${c.failure.reason}: ${c.failure.message}`),
          ...timeFacts(c),
        });
        for (const [duchy, { role, state }] of Object.entries(c.participants))
          print(`  ${duchy} ${role} ${state}`);
        for (const r of c.requisitions) print(`  ${r.name} ${r.state}, data at ${r.fulfillingDuchy}`);
      });
    },
  );
}

function waitsFor({ state, participants, requisitions }: Computation): string | undefined {
  const duchies = Object.entries(participants);
  if (state === 'PENDING_PARAMS') {
    return duchies.flatMap(([duchy, p]) => (p.state === 'CREATED' ? [duchy] : [])).join(', ');
  }
  if (state === 'PENDING_FULFILLMENT') {
    return requisitions.flatMap((r) => (r.state === 'UNFULFILLED' ? [r.dataProvider] : [])).join(', ');
  }
  if (state === 'PENDING_CONFIRMATION') {
    return duchies.flatMap(([duchy, p]) => (p.state === 'PARAMS_SET' ? [duchy] : [])).join(', ');
  }
  return state === 'COMPUTING' ? duchies.find(([, p]) => p.role === 'AGGREGATOR')?.[0] : undefined;
}
