// Runs before most npm scripts, such as start, test and check. Installs the packages if those in node_modules do not
// match the lockfile. One of the packages is Node 24, which npm scripts then use. This file can run before Node 24 is
// installed, so it is plain JavaScript for Node 20.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const stampFile = join(root, 'node_modules', '.mex-installed');
const runtime = join(root, 'node_modules', '.bin', 'node');

const reason = whyInstall();
if (reason !== undefined) {
  console.log(`Installing dependencies: ${reason}. It takes a minute or two, and says nothing meanwhile.`);
  install();
}

function whyInstall() {
  if (!existsSync(join(root, 'node_modules'))) return 'nothing is installed yet';
  if (!existsSync(runtime)) return 'node_modules/.bin/node is missing';
  const installed = existsSync(stampFile) ? readFileSync(stampFile, 'utf8') : '';
  if (installed === stamp()) return undefined;
  // The stamp may differ although the packages are current: after a plain "npm install", or a new version or script in
  // package.json.
  const differing = differingPackage();
  if (differing !== undefined) return `${differing} is not as the lockfile has it`;
  writeFileSync(stampFile, stamp());
  return undefined;
}

/**
 * Returns the first package that differs from the lockfile: it has another version or other dependencies, or is
 * missing.
 */
function differingPackage() {
  const hidden = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(hidden)) return 'node_modules';
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages ?? {};
  const found = JSON.parse(readFileSync(hidden, 'utf8')).packages ?? {};
  for (const [path, locked] of Object.entries(wanted)) {
    if (locked.link === true) continue;
    if (!path.includes('node_modules/')) {
      if (!hasDependenciesOf(join(root, path, 'package.json'), locked)) return join(path, 'package.json');
    } else if (found[path]?.version !== locked.version) {
      // npm omits the optional packages of other platforms.
      if (found[path] !== undefined || isForThisPlatform(locked))
        return path.replace(/^.*node_modules\//, '');
    }
  }
  return undefined;
}

function hasDependenciesOf(manifestFile, locked) {
  const manifest = existsSync(manifestFile) ? JSON.parse(readFileSync(manifestFile, 'utf8')) : {};
  return ['dependencies', 'devDependencies', 'optionalDependencies'].every(
    (kind) => JSON.stringify(sorted(manifest[kind])) === JSON.stringify(sorted(locked[kind])),
  );
}

function sorted(dependencies = {}) {
  return Object.entries(dependencies).sort();
}

function isForThisPlatform({ optional, peer, os, cpu, libc }) {
  const allows = (list, value) => list === undefined || list.includes(value);
  if (os === undefined && cpu === undefined) return optional !== true && peer !== true;
  return allows(os, process.platform) && allows(cpu, process.arch) && allows(libc, 'glibc');
}

/**
 * Hashes everything that decides which packages npm installs. The platform is included, because a container with
 * another platform may share the folder.
 */
function stamp() {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}`);
  const packages = readdirSync(join(root, 'packages')).sort();
  for (const file of ['.', ...packages.map((name) => join('packages', name))].map((dir) =>
    join(dir, 'package.json'),
  )) {
    if (existsSync(join(root, file))) hash.update(`\n${file}\n`).update(readFileSync(join(root, file)));
  }
  return hash.update(readFileSync(join(root, 'package-lock.json'))).digest('hex');
}

function install() {
  rmSync(stampFile, { force: true });
  // "npm ci" would install exactly the lockfile, which may lack the optional binaries of other platforms. Dev
  // dependencies are installed even under NODE_ENV=production, because Node is one of them.
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error', '--include=dev'];
  // Use the npm that started this script, and the Node that this npm runs on, because the installation may replace
  // node_modules/.bin/node.
  const { npm_execpath: npm, npm_node_execpath: node = process.execPath } = process.env;
  const [command, ...before] = npm !== undefined && basename(npm).startsWith('npm') ? [node, npm] : ['npm'];
  const { status, error } = spawnSync(command, [...before, ...args], { cwd: root, stdio: 'inherit' });
  if (error !== undefined)
    fail(`npm could not be run (${error.message}). Install Node with npm, then try again.`);
  if (status !== 0)
    fail('npm could not install (see above). Check the network and the npm registry, then try again.');
  if (!existsSync(runtime)) {
    fail(
      'npm installed no node_modules/.bin/node. Allow install scripts ("npm config set ignore-scripts false").',
    );
  }
  const { stdout: version } = spawnSync(runtime, ['--version'], { encoding: 'utf8' });
  if (!(Number.parseInt(String(version).slice(1), 10) >= 24)) {
    fail(
      `Node 24 is needed, and node_modules/.bin/node does not run on this machine. Install Node 24 or newer; this is Node ${process.versions.node}.`,
    );
  }
  writeFileSync(stampFile, stamp());
}

function fail(message) {
  console.error(`\nNot installed: ${message}`);
  process.exit(1);
}
