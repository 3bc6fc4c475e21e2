/** Reads the ledger of a data provider's agent. */
import { existsSync } from 'node:fs';
import type { AgentView, BudgetView, LedgerView } from '@measurement-exchange/console/companion';
import type { LedgerReader } from '@measurement-exchange/sdk/provider';
import type { Acting } from '../../connection/credentials.ts';
import { demoLedger, openLedger } from '../../provider/ledgerPath.ts';

const RESPONSES = 50;

export interface CompanionOptions {
  /** The path of the ledger of a data provider's agent. Not needed for a demo provider. */
  ledger?: string;
  /** The companion aborts this signal when it closes, which ends all report runs in progress. */
  signal?: AbortSignal;
}

export function budget(acting: Acting, options: CompanionOptions): Promise<LedgerView<BudgetView>> {
  return viewOf(acting, options, (ledger) => ({ ...ledger.budget(), faults: ledger.audit() }));
}

export function agent(acting: Acting, options: CompanionOptions): Promise<LedgerView<AgentView>> {
  return viewOf(acting, options, (ledger) => {
    const status = ledger.agentStatus();
    return {
      ...(status && { agent: status }),
      responses: ledger.responses(),
      lastResponses: ledger.lastResponses(RESPONSES),
      heldQuestions: ledger.heldQuestions(),
      rejectedUploads: ledger.rejectedUploads(),
      confirmedReferences: ledger.confirmedReferences(),
    };
  });
}

async function viewOf<T>(
  { credentials, identity }: Acting,
  options: CompanionOptions,
  read: (ledger: LedgerReader) => T,
): Promise<LedgerView<T>> {
  const path = options.ledger ?? (identity === undefined ? await demoLedger(credentials.name) : undefined);
  if (path === undefined) {
    return {
      missing:
        'The ledger of your agent is not known here. Name it, on the machine of the agent: mex console --ledger <file>.',
    };
  }
  if (!existsSync(path)) {
    return { missing: `${path} does not exist. The agent creates it when it starts: mex provider run.` };
  }
  return { ledger: path, view: await openLedger(path, read) };
}
