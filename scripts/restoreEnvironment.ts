/** Restores the environment variables that a test file stubbed before the next file of the same process runs. */
import { afterAll, vi } from 'vitest';

afterAll(() => {
  vi.unstubAllEnvs();
  process.exitCode = undefined;
});
