import type { Command } from 'commander';
import { group } from '../calls/command.ts';
import { duchyDoctorCommand } from './doctor.ts';
import { duchyRunCommand } from './run.ts';

export function duchyCommand(): Command {
  return group('duchy', 'take part as a duchy: compute across data providers with two others', [
    duchyRunCommand(),
    duchyDoctorCommand(),
  ]);
}
