#!/usr/bin/env node
/** `mex`: the command line of the Measurement Exchange. */
import { CommanderError } from 'commander';
import { explain } from './output.ts';
import { createMex } from './program.ts';

try {
  await createMex().parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exit(error.exitCode);
  process.stderr.write(`mex: ${explain(error)}\n`);
  process.exit(1);
}
