/** `mex duchy check`: reports problems that keep a duchy from taking part in computations. */
import { Command } from 'commander';
import { printJson } from '../../terminal/output.ts';
import { type DuchyOptions, examineSettings } from '../settings.ts';
import { checkDatabase } from './database.ts';
import { checkExchange } from './exchange.ts';
import { type Finding, findingsOf, printFindings } from './finding.ts';
import { checkPeers } from './peers.ts';
import { checkRoots } from './roots.ts';
import { subjectOf } from './subject.ts';

export function duchyCheckCommand(): Command {
  return new Command('check')
    .description('check what a duchy needs: settings, database, token, certificate, roots, peers (read-only)')
    .option('--config <file>', 'the settings of the duchy, as for run')
    .option('--as <party>', 'in development: that of this demo duchy')
    .option('--json', 'print the findings as JSON')
    .addHelpText('after', HELP)
    .action(async (options: DuchyOptions & { json?: boolean }) => {
      const findings = await check(options);
      if (options.json) printJson({ findings });
      else printFindings(findings);
      if (findings.some(({ state }) => state === 'problem')) process.exitCode = 1;
    });
}

async function check(options: DuchyOptions): Promise<Finding[]> {
  const { config, problems } = await examineSettings(options);
  const settings = findingsOf('settings');
  const findings = problems.map(settings.problem);
  if (problems.length === 0) findings.push(settings.ok(options.config ?? 'those of a demo duchy'));
  const subject = await subjectOf(config, options.as);
  if (subject === undefined) {
    const message = 'identity: nothing else can be checked before it says who the duchy is.';
    return [...findings, settings.problem(message)];
  }
  const { client, findings: exchange } = await checkExchange(subject);
  findings.push(...(await checkDatabase(subject, options)), ...exchange);
  if (client === undefined) return findings;
  const roots = await checkRoots(subject, client);
  return [...findings, ...roots.findings, ...(await checkPeers(subject, client, roots.duchies))];
}

const HELP = `
It ends with 1 when there is a problem, and with 0 otherwise. It looks at
  settings      the file, and the files that it names
  database      whether it answers, is this duchy's, holds what should be impossible, or work that nobody does
  exchange      whether it answers, and takes the token
  certificate   whether the exchange knows it, and how long it is valid
  endpoint      whether the exchange names the same one, and whether the duchy answers there
  roots         whose are missing, among the parties of the computations of the last week
  peers         which of the other duchies answer; it waits up to 30 s for demo duchies that are starting`;
