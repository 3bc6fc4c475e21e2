/** Reads trusted root certificates from files and folders, and rereads the files when they change. */
import { readdir, stat } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { PARTY_COLLECTIONS, parsePartyName, splitRoot } from '@measurement-exchange/contract';
import { loadConfig } from '@measurement-exchange/exchange/config';
import { createTrustStore, type TrustedRoot, type TrustStore } from '@measurement-exchange/sdk';
import { readCertificates } from '../files/keyFiles.ts';

/** A file with roots. If `party` is undefined, the roots are trusted for every party that has no root of its own. */
interface RootFile {
  path: string;
  party?: string;
}

export interface RootsFound {
  roots: TrustedRoot[];
  /** One message for each file or folder that cannot be used. Roots in such a file or folder are not trusted. */
  problems: string[];
}

/**
 * Reads roots. Each item of `given` is a file, a file for one party (`duchies/x=x.pem`), or a folder with files such as
 * `duchies/x.pem`.
 */
export async function readRoots(given: readonly string[]): Promise<RootsFound> {
  const { files, problems } = await listFiles(given);
  const roots: TrustedRoot[] = [];
  for (const file of files) {
    await readRoot(file).then(
      (root) => roots.push(root),
      ({ message }: Error) => problems.push(message),
    );
  }
  return { roots, problems };
}

export async function readDevRoots(): Promise<TrustedRoot[]> {
  return (await readRoots(await devRootFolders())).roots;
}

/** Returns the folder for roots that the demo parties trust in addition to the demo root. */
export function devRootFolder(): string {
  return join(loadConfig(process.env, { mode: 'development' }).dataDir, 'roots');
}

async function devRootFolders(): Promise<string[]> {
  const folder = devRootFolder();
  return (await isFolder(folder)) ? [folder] : [];
}

/** A trust store that can also list its roots, so that people can compare the roots' fingerprints. */
export interface ListedTrustStore extends TrustStore {
  roots(): Promise<readonly TrustedRoot[]>;
}

export function createDemoTrustStore(
  demoRootPem: string,
  given: readonly string[],
  onProblem: (problem: string) => void,
): ListedTrustStore {
  const always = [{ pem: demoRootPem }];
  return createRereadTrustStore(async () => [...given, ...(await devRootFolders())], { always, onProblem });
}

/** The minimum time between two checks for changed files. */
const LOOK_MS = 1_000;

/**
 * Creates a trust store for the roots in `always`, and for the roots in the files and folders that `given` returns.
 * When these files change, the trust store rereads them, and stops trusting removed or damaged roots.
 */
export function createRereadTrustStore(
  given: () => Promise<readonly string[]>,
  { always = [], onProblem }: { always?: TrustedRoot[]; onProblem: (problem: string) => void },
): ListedTrustStore {
  let store: TrustStore;
  let listed: readonly TrustedRoot[];
  let version: string | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;
  const look = async () => {
    const found = await versionOf(await given());
    if (found !== version) {
      const { roots, problems } = await readRoots(await given());
      for (const problem of problems) onProblem(problem);
      listed = [...always, ...roots];
      store = createTrustStore(listed);
      version = found;
    }
    lookedAt = performance.now();
  };
  const current = async () => {
    if (performance.now() - lookedAt <= LOOK_MS) return;
    looking ??= look().finally(() => {
      looking = undefined;
    });
    await looking;
  };
  return {
    async verify(party, certificateDer, now) {
      await current();
      return store.verify(party, certificateDer, now);
    },
    async roots() {
      await current();
      return listed;
    },
  };
}

/** Returns a string that changes whenever a file is added, removed, replaced, or written. */
async function versionOf(given: readonly string[]): Promise<string> {
  const { files } = await listFiles(given);
  const states = files.map(async ({ path, party }) => {
    const { mtimeMs, size, ino } = await stat(path).catch(() => ({ mtimeMs: 0, size: 0, ino: 0 }));
    return [path, party, mtimeMs, size, ino].join(' ');
  });
  return (await Promise.all(states)).join('\n');
}

async function listFiles(given: readonly string[]): Promise<{ files: RootFile[]; problems: string[] }> {
  const files: RootFile[] = [];
  const problems: string[] = [];
  for (const text of given) {
    const { party, path } = splitRoot(text);
    if (party !== undefined) files.push({ party, path });
    else if (await isFolder(text)) await listFolder(text, files, problems);
    else files.push({ path: text });
  }
  return { files, problems };
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

const EXTENSIONS = ['.pem', '.crt', '.cer', '.der'];
const FOLDER_SHAPE = `name files by their party: ${PARTY_COLLECTIONS.map((collection) => `${collection}/<id>.pem`).join(', ')}`;

async function listFolder(folder: string, files: RootFile[], problems: string[]): Promise<void> {
  for (const collection of await namesIn(folder, problems)) {
    const path = join(folder, collection);
    if (!(PARTY_COLLECTIONS as string[]).includes(collection)) {
      problems.push(`${path} is not used: ${FOLDER_SHAPE}.`);
      continue;
    }
    for (const file of await namesIn(path, problems)) {
      const { name: id, ext } = parse(file);
      const party = parsePartyName(`${collection}/${id}`)?.name;
      if (party !== undefined && EXTENSIONS.includes(ext)) files.push({ party, path: join(path, file) });
      else problems.push(`${join(path, file)} is not used: ${FOLDER_SHAPE}.`);
    }
  }
}

async function namesIn(folder: string, problems: string[]): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => !name.startsWith('.')).sort();
  } catch (error) {
    problems.push(`${folder} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
    return [];
  }
}

async function readRoot({ path, party }: RootFile): Promise<TrustedRoot> {
  const pem = (await readCertificates(path)).join('');
  const root = party === undefined ? { pem } : { party, pem };
  try {
    createTrustStore([root]);
  } catch (error) {
    throw new Error(`${path}: ${(error as Error).message}`);
  }
  return root;
}
