/** What a test file stubbed of its environment is not there for the next file of the same process. */
import { afterAll, vi } from 'vitest';

afterAll(() => {
  vi.unstubAllEnvs();
  process.exitCode = undefined;
});
