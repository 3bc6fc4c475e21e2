/**
 * After each test file, restores the environment variables that the file stubbed. The next file of the same process
 * would otherwise see the stubs.
 */
import { afterAll, vi } from 'vitest';

afterAll(() => {
  vi.unstubAllEnvs();
  process.exitCode = undefined;
});
