/** Checks imports between files, and code that runs in browsers. */
import { isBuiltin } from 'node:module';
import { circles } from './circles.ts';
import { fileOf, files, isIn, loadedSpecifiersOf, ownImports, sources } from './sources.ts';

/** A file or folder, and the files, folders or packages of this repository that it may import. */
export type Rule = [place: string, allowed: string[]];

/** Finds imports that the rules do not allow. The rule with the longest matching path decides. */
export function importProblems(rules: Rule[]): string[] {
  return sources().flatMap((file) => {
    const rule = rules.filter(([place]) => isIn(place, file)).sort((a, b) => b[0].length - a[0].length)[0];
    if (rule === undefined) return [`${file}: no import rule covers this place: add one to scripts/check.ts`];
    return ownImports(file)
      .filter((target) => !rule[1].some((place) => isIn(place, target)))
      .map((target) => `${file}: may not import ${target}`);
  });
}

/**
 * Returns rules for the parts of a package, which are folders or files. Each part may import itself, the parts listed
 * before it, and these packages.
 */
export function layers(place: string, packages: string[], parts: string[]): Rule[] {
  return parts.map((part, i) => [
    `${place}/${part}`,
    [...packages, ...parts.slice(0, i + 1).map((other) => `${place}/${other}`)],
  ]);
}

/** The TypeScript files of the packages, the benchmarks, the rig and the scripts, including tests. */
function everyFile(): string[] {
  return files('packages/*/{src,test}/**/*.{ts,tsx}', '{bench,rig,scripts}/**/*.ts');
}

/** Finds relative imports of another package's files, which must be imported through the package's exports. */
export function relativeProblems(): string[] {
  const packageOf = (file: string) => /^packages\/\w+\//.exec(file)?.[0];
  return everyFile().flatMap((file) =>
    ownImports(file)
      .filter(
        (target) => /\.tsx?$/.test(target) && packageOf(target) && packageOf(target) !== packageOf(file),
      )
      .map((target) => `${file}: imports ${target} by a relative path: use the exports of its package`),
  );
}

/** Finds circular imports. Type imports count, because files that need each other can only be understood together. */
export function circleProblems(): string[] {
  const imports = everyFile().map((file): [string, string[]] => [file, ownImports(file).map(fileOf)]);
  return circles(new Map(imports)).map((circle) => `${circle}: imports in a circle`);
}

/** Finds files that a browser loads, directly or through other files, and that need Node. */
export function browserProblems(isInBrowsers: (file: string) => boolean): string[] {
  const loaded = new Set(sources().filter(isInBrowsers));
  for (const file of loaded) {
    const imported = ownImports(file, loadedSpecifiersOf(file)).map(fileOf);
    for (const target of imported) if (/\.tsx?$/.test(target)) loaded.add(target);
  }
  return [...loaded].flatMap((file) =>
    loadedSpecifiersOf(file)
      .filter((specifier) => isBuiltin(specifier))
      .map((specifier) => `${file}: runs in a browser and may not import ${specifier}`),
  );
}
