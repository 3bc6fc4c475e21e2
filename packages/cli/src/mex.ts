#!/usr/bin/env node
/** `mex`: the command line of the Measurement Exchange. */
import { enableCompileCache, flushCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

// Turn on the compile cache before importing anything else, because it cuts startup time in half.
const { directory } = enableCompileCache(
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'mex'),
);
// Worker threads find the cache through this variable.
if (directory !== undefined) process.env.NODE_COMPILE_CACHE ??= directory;
// Write the cache after 5 seconds. Node also writes it on exit, but not if the process is killed.
setTimeout(flushCompileCache, 5_000).unref();
const { errorText, exitCodeOf } = await import('./terminal/errorReport.ts');
const { createMex } = await import('./program.ts');
const { traced } = await import('./tracing.ts');

// Exit without an error if the reader, such as `head`, has closed the pipe.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

const words = process.argv.slice(2);
try {
  const mex = await createMex(words);
  await traced(words, () => mex.parseAsync());
} catch (error) {
  process.stderr.write(errorText(error, words.includes('--json')));
  process.exit(exitCodeOf(error));
}
