/**
 * `MEX_TEST_PLANTED_BUG=<name> node --import rig/planted/hook.ts …` runs a program with a planted bug. If the bug does
 * not exist or does not fit the sources, the hook throws and the process ends. Production rejects the variable.
 */
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { bugNamed } from './bugs.ts';
import { announce, fileAt, filesOf, plant, readSource } from './plant.ts';

const bug = bugNamed(process.env.MEX_TEST_PLANTED_BUG);
const files = filesOf(bug);
// Try all edits now, so that a missing snippet fails at the start and not when its file is loaded.
for (const file of files) plant(bug, file, readSource(file));

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const file = url.startsWith('file:') ? fileAt(fileURLToPath(url)) : undefined;
    if (file === undefined || !files.includes(file)) return loaded;
    announce(bug, file);
    const source =
      typeof loaded.source === 'string' ? loaded.source : Buffer.from(loaded.source as Uint8Array).toString();
    return { ...loaded, source: plant(bug, file, source) };
  },
});
