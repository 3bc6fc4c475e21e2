/**
 * Packs contract, consent, mpc, reports, sdk, server, exchange, duchy, console and cli as tarballs with JavaScript and
 * types, because Node does not strip types under node_modules. `node scripts/pack.ts [folder]` writes them to the
 * folder, by default to .pack/.
 *
 * In the workspace the packages run as TypeScript, so their manifests point to src/. Each package is therefore staged
 * beside its tarball, as <folder>/<name>/, with a manifest that points to dist/. The script does not change packages/.
 */
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { isBuiltin } from 'node:module';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Manifest {
  name: string;
  version: string;
  private?: boolean;
  scripts?: Record<string, string>;
  bin?: Record<string, string>;
  exports?: Record<string, string>;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  [field: string]: unknown;
}

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BIN = join(ROOT, 'node_modules', '.bin');
export const PACKAGES = [
  'contract',
  'consent',
  'mpc',
  'reports',
  'sdk',
  'server',
  'exchange',
  'duchy',
  'console',
  'cli',
];
/**
 * The folder with the files that the console serves. Vite builds them. A list in the folder has the SHA-256 of each
 * file.
 */
const WEB = join('dist', 'web');

if (import.meta.main) {
  try {
    for (const tarball of pack(resolve(process.argv[2] ?? join(ROOT, '.pack')))) console.log(tarball);
  } catch (error) {
    console.error(`Not packed: ${(error as Error).message}`);
    process.exitCode = 1;
  }
}

/** Stages and packs all packages. Returns the paths of the tarballs in the order of PACKAGES. */
export function pack(folder: string): string[] {
  const manifests = PACKAGES.map((name) => readManifest(join(ROOT, 'packages', name)));
  const problems = manifests.flatMap((manifest) => versionProblems(manifest, manifests));
  if (problems.length > 0) throw new Error(problems.join('\n'));
  for (const name of PACKAGES) rmSync(join(folder, name), { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  run(join(BIN, 'node'), [join('packages', 'console', 'src', 'build.ts')], 2);
  run(join(BIN, 'tsc'), ['-p', 'tsconfig.pack.json', '--outDir', folder], 2);
  PACKAGES.forEach((name, i) => {
    stage(join(ROOT, 'packages', name), join(folder, name), manifests[i]!);
  });
  const packed = run('npm', [
    'pack',
    '--json',
    '--ignore-scripts',
    `--pack-destination=${folder}`,
    ...PACKAGES.map((name) => join(folder, name)),
  ]);
  return (JSON.parse(packed) as { filename: string }[]).map(({ filename }) => join(folder, filename));
}

/** Converts a workspace manifest to the published form: JavaScript and types in dist/ instead of TypeScript in src/. */
export function publishedManifest(source: Manifest): Manifest {
  // "private" and the script that rejects packing only protect the sources from being published by mistake.
  const { private: _private, scripts: _scripts, ...manifest } = source;
  const built = (path: string, extension: string) =>
    path.replace(/^\.\/src\//, './dist/').replace(/\.ts$/, extension);
  const mapped = <V>(record: Record<string, string> | undefined, value: (path: string) => V) =>
    record && Object.fromEntries(Object.entries(record).map(([key, path]) => [key, value(path)]));
  return {
    ...manifest,
    ...(source.bin && { bin: mapped(source.bin, (path) => built(path, '.js')) }),
    ...(source.exports && {
      // `types` comes first, because TypeScript uses the first condition that matches.
      exports: mapped(withoutInternals(source.exports), (path) => ({
        types: built(path, '.d.ts'),
        default: built(path, '.js'),
      })),
    }),
  } as Manifest;
}

/** Removes the `./internal/…` entries, which only tests, the rig and the benchmarks use. */
function withoutInternals(exports: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(exports).filter(([key]) => !key.startsWith('./internal/')));
}

/**
 * Returns problems with dependencies between our packages. Each dependency must name the exact current version, because
 * the wire format may differ between versions.
 */
export function versionProblems(manifest: Manifest, ours: Manifest[]): string[] {
  return ours
    .filter(({ name, version }) => {
      const { dependencies, optionalDependencies } = manifest;
      return (dependencies?.[name] ?? optionalDependencies?.[name] ?? version) !== version;
    })
    .map(({ name, version }) => `${manifest.name} must depend on ${name} ${version}: edit its package.json`);
}

/** Moves the compiler's output from <target>/src to <target>/dist and adds the rest of the package. */
function stage(source: string, target: string, manifest: Manifest): void {
  const dist = join(target, 'dist');
  renameSync(join(target, 'src'), dist);
  for (const file of globSync('**/*.{js,d.ts}', { cwd: dist })) relinkTypes(join(dist, file));
  // Assets such as styles and migrations go to the place where import.meta.url looks for them.
  const assets = globSync('src/**/*', { cwd: source, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.(tsx?|snap)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  for (const file of assets) {
    const copy = join(dist, file.slice(join(source, 'src', '/').length));
    mkdirSync(dirname(copy), { recursive: true });
    copyFileSync(file, copy);
  }
  // Write package.json before the checks, because the sources import package.json for the version, and the compiler
  // does not always copy the file.
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(publishedManifest(manifest), null, 2)}\n`);
  const problems = [...phantoms(dist, manifest), ...deadEnds(dist)];
  if (problems.length > 0) throw new Error(problems.join('\n'));
  if (existsSync(join(source, 'README.md')))
    copyFileSync(join(source, 'README.md'), join(target, 'README.md'));
  copyFileSync(join(ROOT, 'LICENSE'), join(target, 'LICENSE'));
  if (existsSync(join(source, WEB))) cpSync(join(source, WEB), join(target, WEB), { recursive: true });
}

/**
 * Corrects the imports of './x.ts' in declarations, because the compiler rewrites them only in JavaScript. Throws if a
 * call in JavaScript still names a '.ts' file, because that file is not packed.
 */
function relinkTypes(file: string): void {
  const text = readFileSync(file, 'utf8');
  if (file.endsWith('.d.ts')) {
    writeFileSync(file, text.replace(/(from |import\()(['"])(\.[^'"]*)\.ts\2/g, '$1$2$3.js$2'));
  } else {
    const lost = /\(\s*(['"`][^'"`\s]*\.ts['"`])/.exec(text)?.[1];
    if (lost)
      throw new Error(`${file} names the source file ${lost}, which is not packed: import it instead`);
  }
}

/** Finds imports that the manifest does not declare. They may work in the workspace but fail for a user. */
function phantoms(dist: string, manifest: Manifest): string[] {
  const { name, dependencies, optionalDependencies, peerDependencies } = manifest;
  const declared = Object.keys({ [name]: '', ...dependencies, ...optionalDependencies, ...peerDependencies });
  return globSync('**/*.js', { cwd: dist }).flatMap((file) => {
    const text = readFileSync(join(dist, file), 'utf8');
    const imports = text.matchAll(/\b(?:from |import |import\()'([^.'\s][^'\s]*)'/g);
    return [...imports]
      .map(([, specifier]) => /^(@[^/]+\/)?[^/]+/.exec(specifier!)![0])
      .filter((each) => !isBuiltin(each) && !declared.includes(each))
      .map((each) => `${name} imports ${each} in ${file}: add it to the dependencies in its package.json`);
  });
}

/** Finds relative imports of files that do not exist. */
function deadEnds(dist: string): string[] {
  return globSync('**/*.{js,d.ts}', { cwd: dist }).flatMap((file) => {
    const imports = readFileSync(join(dist, file), 'utf8').matchAll(
      /\b(?:from |import |import\()['"](\.[^'"]+)['"]/g,
    );
    return [...imports]
      .map(([, specifier]) => (file.endsWith('.d.ts') ? specifier!.replace(/\.js$/, '.d.ts') : specifier!))
      .filter((specifier) => !existsSync(join(dist, dirname(file), specifier)))
      .map((specifier) => `${file} imports ${specifier}, which the compiler did not write`);
  });
}

function readManifest(directory: string): Manifest {
  return JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
}

/**
 * Runs a command with this repository's Node first in PATH, so that npm uses this Node, too. Returns the output of the
 * command, or sends the output to stderr if `stdout` is 2.
 */
function run(command: string, args: string[], stdout: 'pipe' | 2 = 'pipe'): string {
  const env = { ...process.env, PATH: `${BIN}${delimiter}${process.env.PATH}` };
  return execFileSync(command, args, { cwd: ROOT, env, encoding: 'utf8', stdio: ['ignore', stdout, 2] });
}
