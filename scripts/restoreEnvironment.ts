/**
 * After each test file, restores the environment variables that the file stubbed, and resets the exit code. Both would
 * otherwise affect the next file of the same process.
 */
import { afterAll, vi } from 'vitest';

afterAll(() => {
  vi.unstubAllEnvs();
  process.exitCode = undefined;
});
