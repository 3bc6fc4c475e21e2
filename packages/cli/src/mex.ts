#!/usr/bin/env node
/** `mex`: the command line of the Measurement Exchange. */
import { enableCompileCache, flushCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

// Everything else is imported after this line, because the cache of compiled code halves the time to start.
const { directory } = enableCompileCache(
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'mex'),
);
// Threads find the cache by this variable.
if (directory !== undefined) process.env.NODE_COMPILE_CACHE ??= directory;
// Node writes the cache when a process exits. A server that is killed would write no cache for its restart.
setTimeout(flushCompileCache, 5_000).unref();
const { CommanderError } = await import('commander');
const { explain, Failed } = await import('./terminal/output.ts');
const { createMex } = await import('./program.ts');
const { traced } = await import('./tracing.ts');

// A reader such as `head` closes the pipe when it has read enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

try {
  const words = process.argv.slice(2);
  const mex = await createMex(words);
  await traced(words, () => mex.parseAsync());
} catch (error) {
  if (error instanceof CommanderError) process.exit(error.exitCode);
  process.stderr.write(`mex: ${explain(error)}\n`);
  process.exit(error instanceof Failed ? error.exitCode : 1);
}
