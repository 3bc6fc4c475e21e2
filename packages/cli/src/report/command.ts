/**
 * `mex report`: creates reports about campaigns. A report uses as few measurements as possible, and its figures agree
 * with each other.
 */
import type { Command } from 'commander';
import { group } from '../calls/command.ts';
import { checkCommand } from './check.ts';
import { defineCommand } from './define.ts';
import { exportCommand } from './export.ts';
import { planCommand } from './plan.ts';
import { runCommand } from './run.ts';
import { deleteCommand, listCommand, showCommand } from './show.ts';

export function reportCommand(): Command {
  const description = 'all figures of a campaign, from the fewest measurements, corrected so that they agree';
  return group('report', description, [
    defineCommand(),
    planCommand(),
    runCommand(),
    showCommand(),
    exportCommand(),
    checkCommand(),
    listCommand(),
    deleteCommand(),
  ]).addHelpText('after', HELP);
}

const HELP = `
  mex report define report.yaml --as acme     a first definition, with your event groups
  mex report plan report.yaml --as acme       what it would ask and cost; nothing is sent
  mex report run report.yaml --as acme        asks, waits and prints; Ctrl-C, and the same line continues
  mex report run --as acme                    the same without a file: all of your event groups
  mex report show --as acme                   the newest report, from what is answered now
  mex report export --format html --output report.html --as acme
  mex report check --as acme                  recomputes every figure from the signed results

A report is a file of YAML or JSON: segments (event groups), sets of them, days, groups of people, the figures, and a
budget. Equal questions are asked once, also over several reports: the second run of a report costs nothing. The exchange
stores the report sealed: it can read neither the definition nor the figures. docs/reports.md explains all of it.`;
