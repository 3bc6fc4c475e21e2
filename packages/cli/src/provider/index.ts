import type { Command } from 'commander';
import { group } from '../admin/command.ts';
import { budgetCommand } from './budget.ts';
import { runCommand } from './run.ts';

export function providerCommand(): Command {
  return group(
    'provider',
    'take part as a data provider: fulfill requisitions, and show the privacy budget',
    [runCommand(), budgetCommand()],
  );
}
