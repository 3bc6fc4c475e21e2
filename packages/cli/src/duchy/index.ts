import type { Command } from 'commander';
import { group } from '../calls/command.ts';
import { duchyCheckCommand } from './check/command.ts';
import { duchyInitCommand } from './init/command.ts';
import { duchyRunCommand } from './run.ts';

export function duchyCommand(): Command {
  return group('duchy', 'take part as a duchy: compute across data providers with two others', [
    duchyInitCommand(),
    duchyRunCommand(),
    duchyCheckCommand(),
  ]);
}
