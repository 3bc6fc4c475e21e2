import type { LedgerReader, RejectedUpload } from '@measurement-exchange/sdk/provider';
import type { Command } from 'commander';
import { paint, print, printJson, visible } from '../output.ts';
import { type LedgerOptions, ledgerCommand, ledgerPath } from './ledgerPath.ts';

export function statusCommand(): Command {
  return ledgerCommand(
    'status',
    'show what was responded, and which uploads duchies reject, also while the agent runs',
  )
    .addHelpText(
      'after',
      `
An upload that its duchy rejects is sent again unchanged, after a minute, two, four and so on, up to an hour. Meanwhile
the operators can mend what is wrong; start the agent again to send it at once. After eight rejections the requisition
is refused with UPLOAD_REJECTED, which fails its measurement. What was charged stays charged.`,
    )
    .action(show);
}

async function show(options: LedgerOptions): Promise<void> {
  const path = await ledgerPath(options);
  const { readLedger } = await import('@measurement-exchange/sdk/provider');
  const ledger = readLedger(path);
  try {
    const [responses, rejected] = [ledger.responses(), ledger.rejectedUploads()];
    if (options.json) return printJson({ ledger: path, responses, rejectedUploads: rejected.map(asJson) });
    print(summary(responses));
    if (rejected.length === 0) return print('No upload is rejected by its duchy.');
    print(paint('yellow', `${rejected.length} uploads are rejected by their duchies:`));
    for (const upload of rejected) print(describe(upload));
  } finally {
    ledger.close();
  }
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
