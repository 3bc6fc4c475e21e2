/** `mex provider status`: shows the agent's latest responses and its open work. */
import type {
  AgentStatus,
  HeldQuestion,
  LedgerReader,
  RejectedUpload,
  StoredResponse,
} from '@measurement-exchange/sdk/provider';
import type { Command } from 'commander';
import { paint, print, printJson, printTable, visible } from '../terminal/output.ts';
import { shortTime } from '../terminal/times.ts';
import { type LedgerOptions, ledgerCommand, withLedger } from './ledgerPath.ts';

const RESPONSES = 5;

export function statusCommand(): Command {
  return ledgerCommand(
    'status',
    'show the last responses, what is open and for how long, failures and the next retry, also while the agent runs',
  )
    .addHelpText(
      'after',
      `
A question about a reference that nobody has confirmed is held: mex provider check shows what the events have, and
confirms it. Nothing is charged for it, and the consumer sees only that your set-up has to be confirmed.

An upload that its duchy rejects is sent again unchanged, after a minute, two, four and so on, up to an hour. Meanwhile
the operators can fix what is wrong; start the agent again to send it at once. After eight rejections the requisition
is refused with UPLOAD_REJECTED, which fails its measurement. What was charged stays charged.`,
    )
    .action(show);
}

function show(options: LedgerOptions): Promise<void> {
  return withLedger(options, (ledger, path) => {
    const [agent, responses, rejected] = [ledger.agentStatus(), ledger.responses(), ledger.rejectedUploads()];
    const [heldQuestions, lastResponses] = [ledger.heldQuestions(), ledger.lastResponses(RESPONSES)];
    if (options.json) {
      const rejectedUploads = rejected.map(asJson);
      return printJson({ ledger: path, agent, responses, lastResponses, heldQuestions, rejectedUploads });
    }
    showAgent(agent, Date.now());
    print(summary(responses));
    if (lastResponses.length > 0) {
      printTable(['TIME', 'REQUISITION', 'MEASUREMENT', 'RESPONSE'], lastResponses.map(responseRow));
    }
    showHeld(heldQuestions);
    if (rejected.length === 0) return print('No upload is rejected by its duchy.');
    print(paint('yellow', `Uploads that their duchies reject: ${rejected.length}`));
    for (const upload of rejected) print(describe(upload));
  });
}

function showAgent(agent: AgentStatus | undefined, now: number): void {
  if (agent === undefined) {
    print('No agent has used this ledger yet: start it with mex provider run.');
    return;
  }
  const {
    startTime,
    endTime,
    pollTime,
    overdueTime,
    unreachable,
    open,
    oldestOpen,
    waiting,
    nextRetries,
    counts,
  } = agent;
  const failed = counts.retrying + counts.rejected;
  if (endTime !== undefined) {
    const ended = ago(now - Date.parse(endTime));
    print(`No agent runs: the last one ended ${ended} ago. Start it with mex provider run.`);
  } else if (pollTime === undefined || overdueTime === undefined)
    print(`The agent of ${shortTime(startTime)} has not reached the exchange yet.`);
  else {
    const age = now - Date.parse(pollTime);
    const polled = `It polled the exchange ${ago(age)} ago`;
    if (now < Date.parse(overdueTime))
      print(`The agent has been running since ${shortTime(startTime)}. ${polled}.`);
    else
      print(
        paint(
          'yellow',
          `No agent runs: the last one polled ${ago(age)} ago. Start it with mex provider run.`,
        ),
      );
  }
  if (unreachable !== undefined)
    print(paint('red', `The exchange cannot be reached: ${visible(unreachable)}`));
  print(
    `Since its start: fulfilled ${counts.fulfilled}, refused ${counts.refused}, failed attempts ${failed}.`,
  );
  if (oldestOpen === undefined) print('No requisition is open.');
  else {
    const age = ago(now - Date.parse(oldestOpen.createTime));
    print(`Open requisitions: ${open}. The oldest waits for ${age}: ${oldestOpen.requisition}`);
  }
  if (waiting === 0) return;
  print(paint('yellow', `To be tried again: ${waiting}. The next:`));
  for (const { requisition, time, why } of nextRetries) {
    const due = Date.parse(time) - now;
    print(
      `  ${requisition}\n    ${due > 0 ? `in ${ago(due)}` : 'now'} (${shortTime(time)}): ${visible(why)}`,
    );
  }
}

function ago(ms: number): string {
  const units: [name: string, ms: number][] = [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['min', 60_000],
  ];
  const [name, size] = units.find(([, size]) => ms >= 2 * size) ?? ['s', 1000];
  return `${Math.max(0, Math.floor(ms / size))} ${name}`;
}

function showHeld(held: HeldQuestion[]): void {
  if (held.length === 0) {
    print('No question is held.');
    return;
  }
  print(paint('yellow', `Held, about references that nobody has confirmed: ${held.length}`));
  for (const { requisition, measurementConsumer, references, since } of held) {
    print(
      `  ${requisition}\n    of ${measurementConsumer} since ${since}: ${visible(references.join(', '))}`,
    );
  }
  print('See what the events have with mex provider check, and confirm what is right with --confirm.');
}

function summary({ results, uploads, refusals, lastTime }: ReturnType<LedgerReader['responses']>): string {
  if (lastTime === undefined) return 'No requisition has a response yet.';
  return `Stored responses: direct results ${results}, uploads to duchies ${uploads}, refusals ${refusals}.`;
}

const RESPONSE = { RESULT: 'result', UPLOAD: 'upload', REFUSAL: 'refused' } as const;

function responseRow({ time, requisition, measurement, response, ...refusal }: StoredResponse) {
  const { justification, message = '' } = refusal;
  const why = justification === undefined ? '' : ` (${justification}): ${message}`;
  return [shortTime(time), requisition, measurement, `${RESPONSE[response]}${why}`];
}

const time = (ms: number) => new Date(ms).toISOString();
const asJson = ({ countedAt, ...upload }: RejectedUpload) => ({ ...upload, countedAt: time(countedAt) });

function describe({ requisition, count, countedAt, why }: RejectedUpload): string {
  return `  ${requisition}\n    rejected ${count} times, last at ${time(countedAt)}: ${visible(why)}`;
}
