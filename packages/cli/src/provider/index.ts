import type { Command } from 'commander';
import { group } from '../calls/command.ts';
import { budgetCommand } from './budget.ts';
import { checkCommand } from './check.ts';
import { runCommand } from './run.ts';
import { statusCommand } from './status.ts';

export function providerCommand(): Command {
  return group(
    'provider',
    'take part as a data provider: fulfill requisitions, look at the events, and show the status and the privacy budget',
    [runCommand(), checkCommand(), statusCommand(), budgetCommand()],
  );
}
