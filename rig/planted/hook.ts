/**
 * `MEX_TEST_PLANTED_BUG=<name> node --import rig/planted/hook.ts …` runs a program with a planted bug. Throws, which
 * ends the process, when there is no such bug or it does not fit the sources. Production rejects the variable.
 */
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { bugNamed } from './bugs.ts';
import { announce, fileAt, filesOf, plant, readSource } from './plant.ts';

const bug = bugNamed(process.env.MEX_TEST_PLANTED_BUG);
const files = filesOf(bug);
// All of them now: a snippet that is gone must not wait until its file is loaded.
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
