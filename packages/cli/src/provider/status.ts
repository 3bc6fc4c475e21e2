import type { HeldQuestion, LedgerReader, RejectedUpload } from '@measurement-exchange/sdk/provider';
import type { Command } from 'commander';
import { paint, print, printJson, visible } from '../terminal/output.ts';
import { type LedgerOptions, ledgerCommand, withLedger } from './ledgerPath.ts';

export function statusCommand(): Command {
  return ledgerCommand(
    'status',
    'show what was responded, which questions are held, and which uploads duchies reject, also while the agent runs',
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
    const [responses, rejected] = [ledger.responses(), ledger.rejectedUploads()];
    const heldQuestions = ledger.heldQuestions();
    if (options.json) {
      const rejectedUploads = rejected.map(asJson);
      return printJson({ ledger: path, responses, heldQuestions, rejectedUploads });
    }
    print(summary(responses));
    showHeld(heldQuestions);
    if (rejected.length === 0) return print('No upload is rejected by its duchy.');
    print(paint('yellow', `${rejected.length} uploads are rejected by their duchies:`));
    for (const upload of rejected) print(describe(upload));
  });
}

function showHeld(held: HeldQuestion[]): void {
  if (held.length === 0) {
    print('No question is held.');
    return;
  }
  print(paint('yellow', `${held.length} questions are held, about references that nobody has confirmed:`));
  for (const { requisition, measurementConsumer, references, since } of held) {
    print(
      `  ${requisition}\n    of ${measurementConsumer} since ${since}: ${visible(references.join(', '))}`,
    );
  }
  print('See what the events have with mex provider check, and confirm what is right with --confirm.');
}

function summary({ results, uploads, refusals, lastTime }: ReturnType<LedgerReader['responses']>): string {
  if (lastTime === undefined) return 'No requisition has a response yet.';
  return `${results} direct results, ${uploads} uploads to duchies and ${refusals} refusals are stored, the last at ${lastTime}.`;
}

const time = (ms: number) => new Date(ms).toISOString();
const asJson = ({ countedAt, ...upload }: RejectedUpload) => ({ ...upload, countedAt: time(countedAt) });

function describe({ requisition, count, countedAt, why }: RejectedUpload): string {
  return `  ${requisition}\n    rejected ${count} times, last at ${time(countedAt)}: ${visible(why)}`;
}
