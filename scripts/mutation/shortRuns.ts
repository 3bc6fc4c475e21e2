/**
 * Shortens or skips slow tests during mutation testing. They would take seconds for each of thousands of mutants, and
 * other tests kill almost all of those mutants.
 */
import fc from 'fast-check';
import { beforeEach } from 'vitest';

fc.configureGlobal({ ...fc.readConfigureGlobal(), interruptAfterTimeLimit: 100 });

/** The titles of tests that measure how long the largest inputs take. */
const AT_SCALE = [
  'a megabyte that would print as hundreds is refused',
  'a large proto2 enum named a hundred thousand times does not hold the exchange up',
  'as deep as 1 MiB can nest is refused',
  'half a million empty elements are refused',
  'of the largest size is compared in a moment',
];

beforeEach(({ task, skip }) => {
  if (AT_SCALE.includes(task.name)) skip();
});
