// Runs before start, test and check: installs when what is installed does not match the lockfile.
// Plain JavaScript for Node 20 with nothing installed: what it installs brings the Node for the rest.
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
  console.log(`Installing dependencies: ${reason}.`);
  install();
}

function whyInstall() {
  if (!existsSync(join(root, 'node_modules'))) return 'nothing is installed yet';
  if (!existsSync(runtime)) return 'node_modules/.bin/node is missing';
  const installed = existsSync(stampFile) ? readFileSync(stampFile, 'utf8') : '';
  return installed === stamp() ? undefined : 'what is installed may not match the lockfile';
}

/** What the installed packages depend on. The platform too: a folder may be shared with a container. */
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
  // Not "npm ci": it takes exactly what the lockfile lists, and a lockfile may lack the optional binaries of
  // other platforms. With dev dependencies even under NODE_ENV=production: the runtime is one of them.
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error', '--include=dev'];
  // The npm that runs us, with the Node that runs it: ours may be the one that is about to be replaced.
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
  writeFileSync(stampFile, stamp());
}

function fail(message) {
  console.error(`\nNot installed: ${message}`);
  process.exit(1);
}
