import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

/** A program that prints the files that a module loads. */
const LIST = `
  import { registerHooks } from 'node:module';
  const urls = [];
  registerHooks({ load: (url, context, next) => { urls.push(url); return next(url, context); } });
  await import(process.argv[1]);
  console.log(JSON.stringify(urls));`;

test('the duchy module loads only the contract files that the shuffle needs', () => {
  const module = import.meta.resolve('./duchy.ts');
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', LIST, module], {
    encoding: 'utf8',
  });
  const files = (JSON.parse(output) as string[]).filter((url) => url.includes('/contract/'));
  const names = files.map((url) => url.slice(url.lastIndexOf('/') + 1)).sort();
  expect(names).toEqual(['sampledRegisters.ts', 'shareShuffle.ts', 'shareShuffleLimits.ts', 'vidRanges.ts']);
});
