import { join } from 'node:path';
import { Command } from 'commander';
import { findDevParty, readDevFile } from '../files/devFile.ts';
import { readPartyFile } from '../files/partyFile.ts';
import { isIll, printAilments } from '../terminal/doctorReport.ts';
import { printJson } from '../terminal/output.ts';
import { openDuchyDatabase } from './database.ts';
import { type DuchyOptions, duchySettings, loadDuchy } from './settings.ts';

export function duchyDoctorCommand(): Command {
  return new Command('doctor')
    .description(
      'check the database of a duchy for inconsistencies, and for work that nobody does (read-only)',
    )
    .option('--config <file>', 'the settings of the duchy, as for run')
    .option('--as <party>', 'in development: that of this demo duchy')
    .option('--json', 'print the findings as JSON')
    .action(async (options: DuchyOptions & { json?: boolean }) => {
      const config = await duchySettings(options);
      const { DUCHY_CHECKS, examineDuchy, readSecretsKey } = await loadDuchy();
      await using opened = new AsyncDisposableStack();
      const duchy = await nameOf(options, config);
      const connection = await openDuchyDatabase(config, { ...options, duchy }, opened);
      const ailments = await examineDuchy(connection, await readSecretsKey(config));
      if (options.json) printJson({ checks: DUCHY_CHECKS, ailments });
      else printAilments(ailments, DUCHY_CHECKS);
      if (isIll(ailments)) process.exitCode = 1;
    });
}

async function nameOf({ as }: DuchyOptions, config: { dataDir: string; identity: string | undefined }) {
  if (as !== undefined) return findDevParty(await readDevFile(config.dataDir), as).name;
  if (config.identity !== undefined) return (await readPartyFile(join(config.identity, 'party.json'))).name;
  throw new Error('Say in the settings who the duchy is: identity, the folder that mex identity made.');
}
