/** `mex requisitions`: providers see their own requisitions, and consumers see those of a measurement. */
import {
  parseName,
  REFUSAL_JUSTIFICATIONS,
  REQUISITION_STATES,
  type RefusalJustification,
  type RequisitionState,
} from '@measurement-exchange/contract';
import { retryOnAborted } from '@measurement-exchange/sdk';
import { type Command, Option } from 'commander';
import * as calls from '../calls/caller.ts';
import { type CallOptions, given, group, showResource } from '../calls/command.ts';
import { parseTime, shortTime } from '../terminal/times.ts';
import { show } from './requisitionShow.ts';
import { typeWords } from './spec.ts';
import { showTimeline, wholeTimeline } from './timeline.ts';

export function requisitionsCommand(): Command {
  return group('requisitions', 'what providers are asked for: list, show, timeline, refuse', [
    list(),
    show(),
    timeline(),
    refuse(),
  ]);
}

interface Filters extends calls.ListOptions {
  state?: RequisitionState[];
  updatedAfter?: string;
}

function list(): Command {
  return calls
    .listCommand('list [measurement]', 'list those of a provider, or of a measurement, oldest first')
    .addOption(new Option('--state <state...>', 'only in these states').choices(REQUISITION_STATES))
    .option('--updated-after <time>', 'a time, a day, or how long ago: 12h, 7d', parseTime)
    .addHelpText(
      'after',
      '\nA data provider lists its own; a measurement consumer those of a measurement it names.',
    )
    .action(async (measurement: string | undefined, options: Filters) => {
      const caller = await calls.callerOf(options);
      const parent = parentOf(caller, measurement);
      const query = {
        parent,
        ...calls.pageSizeOf(options),
        ...given({ 'filter.states': options.state, 'filter.updatedAfter': options.updatedAfter }),
      };
      const isProvider = calls.isOf('dataProviders', parent);
      const listing = isProvider
        ? caller.client.listRequisitions(query)
        : caller.client.listMeasurementRequisitions(query);
      await calls.showPages(options, listing.pages(), (page) => page.requisitions, {
        headings: ['NAME', 'STATE', 'MEASURES', isProvider ? 'FOR' : 'OF', 'CREATED (UTC)'],
        row: (r) => [
          isProvider ? calls.idIn(r.name!) : r.name,
          r.state,
          typeWords(r.protocolConfig?.measurementType),
          isProvider ? r.measurement?.split('/')[1] : calls.idIn(r.dataProvider!),
          shortTime(r.createTime),
        ],
        none: `${parent} has no such requisition.`,
      });
    });
}

function parentOf({ principal }: calls.Caller, measurement: string | undefined): string {
  if (calls.isOf('dataProviders', principal)) {
    if (measurement === undefined) return principal;
    throw new Error('A provider lists all of its requisitions: leave out the measurement.');
  }
  if (measurement !== undefined) return calls.nameBelow(principal, 'measurements', measurement);
  throw new Error(
    `Which measurement of ${principal}? mex requisitions list <measurement>, by a name that mex measurements list prints.`,
  );
}

function timeline(): Command {
  return calls.ownCommand(
    'timeline <requisition>',
    'what happened to it, and why',
    'requisitions',
    async ({ client, name }, options) => {
      if (!parseName('measurementRequisition', name)) {
        showTimeline(options, await wholeTimeline(client.getRequisitionTimeline({ name })));
        return;
      }
      // A consumer reads the timeline of the whole measurement. Keep only the transitions of this requisition.
      const measurement = name.split('/').slice(0, 4).join('/');
      const { transitions } = await wholeTimeline(client.getMeasurementTimeline({ name: measurement }));
      showTimeline(options, { transitions: transitions.filter(({ resource }) => resource === name) });
    },
  );
}

interface RefuseOptions extends CallOptions {
  justification: RefusalJustification;
  message?: string;
}

function refuse(): Command {
  return calls
    .ownCommand(
      'refuse <requisition>',
      'refuse it for good, which fails the measurement',
      'requisitions',
      refuseNamed,
    )
    .addOption(
      new Option('--justification <why>', 'why').choices(REFUSAL_JUSTIFICATIONS).makeOptionMandatory(),
    )
    .option('--message <text>', 'what the consumer should know')
    .addHelpText(
      'after',
      `
  CONSENT_SIGNAL_INVALID       a signature, a certificate or an encryption is not valid
  SPEC_INVALID                 the request cannot be read, or asks for data that does not exist
  INSUFFICIENT_PRIVACY_BUDGET  earlier results have used up the privacy budget
  UNFULFILLABLE                it can never be fulfilled
  DECLINED                     it will not be fulfilled: policy, business, contract

For permanent reasons only: the measurement fails, and the other providers' results are discarded.`,
    );
}

async function refuseNamed(
  { name, ...caller }: calls.Caller & { name: string },
  options: RefuseOptions,
): Promise<void> {
  calls.requireKind('dataProviders', caller, 'mex requisitions refuse');
  const { justification, message } = options;
  const refusal = { justification, ...given({ message }) };
  const requisition = await retryOnAborted(
    () => caller.client.getRequisition({ name }),
    ({ etag }) => caller.client.refuseRequisition({ name, body: { refusal, etag: etag! } }),
  );
  showResource(
    options,
    requisition,
    (r) => `${r.name} is ${r.state}, and ${r.measurement} is ${r.measurementState}.`,
  );
}
