/** The source files of this repository, and their imports. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The product's files as paths from the root, without tests and generated code. */
export function sources(): string[] {
  return files('packages/*/src/**/*.{ts,tsx}').filter((file) => !/\.test\.tsx?$|\/gen\//.test(file));
}

export function files(...patterns: string[]): string[] {
  return globSync(patterns, { cwd: ROOT }).filter((file) => !file.includes('node_modules'));
}

export function textOf(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

export function isIn(place: string, target: string): boolean {
  return target === place || target.startsWith(`${place}/`);
}

export function specifiersOf(file: string): string[] {
  return specifiersIn(textOf(file));
}

function specifiersIn(text: string): string[] {
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => match[1]!);
}

/** Returns the import specifiers of a file without type-only imports and exports, which are not loaded at run time. */
export function loadedSpecifiersOf(file: string): string[] {
  return specifiersIn(textOf(file).replace(/^(?:import|export) type [^;]*;/gm, ''));
}

/**
 * The modules of this repository that a file imports: paths from the root, or package entries such as `sdk/provider`.
 */
export function ownImports(file: string, specifiers = specifiersOf(file)): string[] {
  return specifiers.flatMap((specifier) => {
    if (specifier.startsWith('.')) return [normalize(join(dirname(file), specifier))];
    const own = /^@measurement-exchange\/(\w+(?:\/\w+)*)/.exec(specifier);
    return own ? [own[1]!] : [];
  });
}

/** The file behind a package entry, for example `packages/sdk/src/provider/index.ts` for `sdk/provider`. */
export function fileOf(target: string): string {
  const [name, ...rest] = target.split('/');
  const manifest = `packages/${name}/package.json`;
  if (!existsSync(join(ROOT, manifest))) return target;
  const { exports = {} }: { exports?: Record<string, string> } = JSON.parse(textOf(manifest));
  const entry = ['.', ...rest].join('/');
  for (const [key, path] of Object.entries(exports)) {
    const [before, after] = key.split('*') as [string, string?];
    if (after === undefined ? key === entry : entry.startsWith(before)) {
      return join(`packages/${name}`, path.replace('*', entry.slice(before.length)));
    }
  }
  return target;
}
