/** `mex why`: explains what a resource is waiting for, or why it ended. */
import type { Explanation } from '@measurement-exchange/contract';
import type { Command } from 'commander';
import { type Caller, callerOf, isOf, nameBelow, nextCommand, requireParty } from '../calls/caller.ts';
import { type CallOptions, remote, showResource } from '../calls/command.ts';
import { paint, print, visible } from '../terminal/output.ts';
import { shortTime } from '../terminal/times.ts';
import { refusalAdvice } from './failure.ts';

export function whyCommand(): Command {
  return remote(
    'why <name>',
    'what a measurement, requisition or computation waits for, or why it ended',
  ).action(async (text: string, options: CallOptions) => {
    const caller = await callerOf(options);
    requireParty(caller, 'mex why');
    const { name, explanation } = await explainOwn(caller, text);
    const advice = options.json ? undefined : await adviceOf(caller, name, explanation, options);
    showResource(options, explanation, (e) => showExplanation(name, e, advice));
  });
}

/**
 * If the caller is the consumer, returns advice about a refusal. Otherwise, returns undefined. `mex measurements
 * results` gives the same advice.
 */
async function adviceOf(
  { client, principal }: Caller,
  name: string,
  { ending }: Explanation,
  options: CallOptions,
): Promise<string | undefined> {
  if (ending?.code !== 'REFUSED' || !isOf('measurementConsumers', principal)) return undefined;
  const verify = nextCommand(options, `verify measurement ${name}`);
  for await (const { refusal } of client.listMeasurementRequisitions({ parent: name })) {
    if (refusal !== undefined) return refusalAdvice(refusal, verify);
  }
  return undefined;
}

/** Explains one of the caller's resources. Each kind of party can ask about one kind of resource (see EXPLAINED). */
async function explainOwn({ client, principal }: Caller, text: string) {
  const [collection, explain] = EXPLAINED[principal.split('/')[0] as keyof typeof EXPLAINED];
  const name = nameBelow(principal, collection, text);
  return { name, explanation: await client[explain]({ name }) };
}

const EXPLAINED = {
  measurementConsumers: ['measurements', 'explainMeasurement'],
  dataProviders: ['requisitions', 'explainRequisition'],
  duchies: ['computations', 'explainComputation'],
} as const;

function showExplanation(name: string, e: Explanation, advice: string | undefined): void {
  print(paint('bold', name));
  print(`  ${e.state} since ${shortTime(e.since)} UTC`);
  print(`  ${visible(e.summary)}`);
  for (const wait of e.waitingFor) {
    const lastSeen = wait.lastSeen === undefined ? 'never seen' : `last seen ${shortTime(wait.lastSeen)} UTC`;
    const times = paint('dim', `(since ${shortTime(wait.since)} UTC, ${lastSeen})`);
    print(`\n  ${paint('yellow', wait.code)} ${paint('bold', wait.party)} ${times}`);
    print(`    ${visible(wait.detail)}`);
    print(`    ${paint('green', '→')} ${visible(wait.remedy)}`);
  }
  if (e.ending !== undefined) {
    print(`\n  ${paint(e.ending.code === 'SUCCEEDED' ? 'green' : 'yellow', e.ending.code)}`);
    for (const remedy of [advice ?? [], e.ending.remedy].flat()) {
      print(`    ${paint('green', '→')} ${visible(remedy)}`);
    }
  }
  for (const { code, detail, at } of e.risks) {
    print(`\n  ${paint('red', code)} ${paint('dim', `(${shortTime(at)} UTC)`)}`);
    print(`    ${visible(detail)}`);
  }
  if (e.nextDeadline !== undefined) print(`\n  Deadline: ${shortTime(e.nextDeadline)} UTC`);
}
