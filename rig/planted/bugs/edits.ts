import type { Edit, NamedTest } from '../plant.ts';

export const inExchange = (file: string, find: string, replace: string): Edit => ({
  file: `exchange/src/${file}`,
  find,
  replace,
});

export const inProvider = (file: string, find: string, replace: string): Edit => ({
  file: `sdk/src/provider/${file}`,
  find,
  replace,
});

export const inConsumer = (file: string, find: string, replace: string): Edit => ({
  file: `sdk/src/${file}`,
  find,
  replace,
});

export const inMpc = (file: string, find: string, replace: string): Edit => ({
  file: `mpc/src/${file}`,
  find,
  replace,
});

export const inDuchy = (file: string, find: string, replace: string): Edit => ({
  file: `duchy/src/${file}`,
  find,
  replace,
});

export const inServer = (file: string, find: string, replace: string): Edit => ({
  file: `server/src/${file}`,
  find,
  replace,
});

/** `name` is a part of the title of the one test to run. By default the whole file runs. */
export const test = (file: string, name?: string): NamedTest => ({ file, ...(name && { name }) });

/** An import of `../code.ts`. Planted code that needs more than one line calls the functions of that module. */
export const CODE = `import('${new URL('../code.ts', import.meta.url).href}')`;
