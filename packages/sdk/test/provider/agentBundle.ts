/**
 * Bundles the agent of agentProcess.ts into one file per process and thread. Tests start the agent often, and a bundle
 * loads three times as fast as separate modules.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const PROVIDER = '../../src/provider';
const SOURCES = [
  'agentProcess.ts',
  `${PROVIDER}/filter/evaluationProcess.ts`,
  `${PROVIDER}/multiParty/honestMajorityShareShuffle/shareThread.ts`,
  `${PROVIDER}/multiParty/liquidLegions/sketchThread.ts`,
  `${PROVIDER}/vidOrderThread.ts`,
];

/** Writes the bundled files into `outdir`. Returns the path of the file that starts the agent. */
export async function bundleAgent(outdir: string): Promise<string> {
  const engine = createRequire(import.meta.url).resolve('@duckdb/node-api');
  await build({
    entryPoints: SOURCES.map((source) => fileURLToPath(new URL(source, import.meta.url))),
    entryNames: '[name]',
    outExtension: { '.js': '.mjs' },
    outdir,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    alias: { '@duckdb/node-api': engine },
    external: [engine],
    banner: {
      js: `import { createRequire } from 'node:module'; const require = createRequire('${engine}');`,
    },
  });
  return join(outdir, 'agentProcess.mjs');
}
