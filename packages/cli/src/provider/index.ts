import type { Command } from 'commander';
import { group } from '../admin/command.ts';
import { budgetCommand } from './budget.ts';
import { runCommand } from './run.ts';
import { statusCommand } from './status.ts';

export function providerCommand(): Command {
  return group(
    'provider',
    'take part as a data provider: fulfill requisitions, and show their status and the privacy budget',
    [runCommand(), statusCommand(), budgetCommand()],
  );
}
