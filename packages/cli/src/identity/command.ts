import type { Command } from 'commander';
import { group } from '../calls/command.ts';
import { createCommand } from './create.ts';
import { importCommand } from './import.ts';

export function identityCommand(): Command {
  const create = createCommand();
  const description =
    'the keys and certificates of a party in a folder: make new ones, or import existing ones (nothing leaves this machine)';
  return group('identity', description, [importCommand()])
    .addCommand(create, { isDefault: true })
    .addHelpText('after', '\n  mex identity <party> is short for mex identity create <party>.');
}
