import { fileURLToPath } from 'node:url';
import { createConfig, lint } from '@redocly/openapi-core';
import { expect, it } from 'vitest';

it('docs/openapi.json passes the recommended rules of a public linter without a warning', async () => {
  const problems = await lint({
    ref: fileURLToPath(new URL('../docs/openapi.json', import.meta.url)),
    config: await createConfig({ extends: ['recommended'] }),
  });
  const lines = problems.map(
    ({ ruleId, message, location: [place] }) => `${ruleId}: ${message} ${place?.pointer ?? ''}`,
  );
  expect(lines).toEqual([]);
});
