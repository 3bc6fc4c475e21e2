import { matchesGlob } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { SOURCES } from './build.ts';

const PACKAGES = fileURLToPath(new URL('../../', import.meta.url));

it('SOURCES matches every source file of the bundle, so that a change causes a new build', async () => {
  const { metafile } = await build({
    ...{ absWorkingDir: PACKAGES, entryPoints: ['console/src/main.tsx'], outdir: '/nowhere' },
    ...{ bundle: true, format: 'esm', metafile: true, write: false, logLevel: 'error' },
    loader: { '.svg': 'file' },
  });
  const inputs = Object.keys(metafile.inputs).filter((file) => !file.includes('node_modules/'));
  expect(inputs.length).toBeGreaterThan(300);
  const missing = inputs.filter((file) => !SOURCES.some((glob) => matchesGlob(file, glob)));
  expect(missing).toEqual([]);
});
