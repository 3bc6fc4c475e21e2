/**
 * Copies the files of a running PostgreSQL server with its low-level backup API (PostgreSQL manual, 25.3.4). Pages may
 * change during the copy. A server that starts from the copy repairs such pages by replaying the WAL.
 */
import { randomBytes } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import pg from 'pg';
import {
  type CopiedFile,
  copyFile,
  forEachFile,
  makeDirectories,
  type OnProgress,
  writeCopy,
} from './files.ts';

/**
 * Directories whose files are not copied, because a server that starts from the copy does not need them. The exception
 * is the WAL that recovery needs, which `copyCluster` copies to `pg_wal` at the end.
 */
const EMPTIED = [
  ...['pg_wal', 'pg_replslot', 'pg_dynshmem', 'pg_notify', 'pg_serial', 'pg_snapshots', 'pg_stat_tmp'],
  'pg_subtrans',
];
/**
 * Matches files that are not copied: temporary files, files of the running server, and files that the backup writes
 * itself.
 */
const LEFT_OUT =
  /^(postmaster\.(pid|opts)|current_logfiles|backup_label.*|tablespace_map.*)$|(^|\/)(pgsql_tmp.*|pg_internal\.init.*)$/;
const CONTROL_FILE = 'global/pg_control';

/** Copies the cluster into the empty directory `into`, together with the WAL that recovery needs. */
export async function copyCluster(connection: pg.ClientConfig, into: string, onProgress: OnProgress) {
  const client = new pg.Client({ ...connection, application_name: 'mex backup' });
  client.on('error', () => {}); // Ignore connection errors, because the running query also rejects.
  await client.connect();
  try {
    const facts = await readFacts(client);
    // Create a replication slot, which makes PostgreSQL keep all WAL that is written during this session.
    await client.query('SELECT pg_create_physical_replication_slot($1, true, true)', [
      `mex_backup_${randomBytes(6).toString('hex')}`,
    ]);
    await client.query("SELECT pg_backup_start('mex backup', true)");

    const { directories, files, bytes } = await look(facts.dataDirectory);
    await makeDirectories(into, directories);
    let done = 0;
    const count = (chunk: number) => {
      done += chunk;
      onProgress(Math.min(done, bytes), bytes);
    };
    const copied: CopiedFile[] = [];
    await forEachFile(files, async (path) => {
      const copy = await copyUnlessGone(join(facts.dataDirectory, path), join(into, path), count);
      if (copy !== undefined) copied.push({ path, ...copy });
    });
    copied.push(await copyControlFile(facts.dataDirectory, into));

    const { rows } = await client.query(
      'SELECT labelfile, pg_walfile_name(lsn) AS last FROM pg_backup_stop(wait_for_archive => false)',
    );
    const { labelfile, last } = rows[0];
    copied.push(await writeCopy(into, 'backup_label', Buffer.from(labelfile)));
    const first = /\(file ([0-9A-F]{24})\)/.exec(labelfile)![1]!;
    for (const segment of segmentsBetween(first, last, facts.segmentBytes)) {
      const path = `pg_wal/${segment}`;
      copied.push({ path, ...(await copyFile(join(facts.dataDirectory, path), join(into, path))) });
    }
    return { ...facts, directories, files: copied };
  } finally {
    await client.end();
  }
}

const FACTS = `
  SELECT current_setting('server_version') AS version, current_setting('data_directory') AS directory,
         pg_size_bytes(current_setting('wal_segment_size')) AS segment,
         (SELECT name FROM schema_migrations ORDER BY version DESC LIMIT 1) AS schema,
         (SELECT count(*)::int FROM pg_tablespace WHERE spcname NOT IN ('pg_default', 'pg_global')) AS tablespaces`;

async function readFacts(client: pg.Client) {
  const { rows } = await client.query(FACTS).catch((error) => {
    throw error.code === '42P01' ? new Error('The database is empty: there is nothing to back up.') : error;
  });
  const { version, directory, segment, schema, tablespaces } = rows[0];
  if (tablespaces > 0)
    throw new Error('The database has tablespaces outside its folder: back it up with pg_basebackup.');
  return {
    postgresVersion: version as string,
    dataDirectory: directory as string,
    segmentBytes: Number(segment),
    schemaVersion: schema as string,
  };
}

async function look(cluster: string): Promise<{ directories: string[]; files: string[]; bytes: number }> {
  const pathOf = (entry: Dirent) => relative(cluster, join(entry.parentPath, entry.name));
  const entries = (await readdir(cluster, { recursive: true, withFileTypes: true })).filter((entry) => {
    const path = pathOf(entry);
    return !LEFT_OUT.test(path) && !EMPTIED.includes(path.split('/', 1)[0]!) && path !== CONTROL_FILE;
  });
  const directories = entries.filter((entry) => entry.isDirectory()).map(pathOf);
  const files = entries.filter((entry) => entry.isFile()).map(pathOf);
  let bytes = 0;
  for (const file of files) bytes += (await stat(join(cluster, file)).catch(() => undefined))?.size ?? 0;
  return { directories: [...directories, ...EMPTIED].sort(), files, bytes };
}

/**
 * Copies a file. Returns undefined if the file has disappeared, for example because its table was dropped. Replaying
 * the WAL drops such a table in the copy too.
 */
async function copyUnlessGone(from: string, to: string, count: (bytes: number) => void) {
  try {
    return await copyFile(from, to, count);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await rm(to, { force: true });
    return undefined;
  }
}

/**
 * Copies the control file after two reads return the same bytes. Replaying the WAL cannot repair a control file that
 * was read during a write.
 */
async function copyControlFile(cluster: string, into: string): Promise<CopiedFile> {
  const read = () => readFile(join(cluster, CONTROL_FILE));
  for (let before = await read(); ; ) {
    const after = await read();
    if (after.equals(before)) return writeCopy(into, CONTROL_FILE, after);
    before = after;
  }
}

/**
 * Lists the names of WAL segments from `first` to `last`. A name has three parts of 8 hexadecimal digits: the timeline,
 * the number of a block of 4 GiB, and the number of the segment within this block.
 */
export function segmentsBetween(first: string, last: string, segmentBytes: number): string[] {
  const perHalf = 2 ** 32 / segmentBytes;
  const numberOf = (name: string) =>
    Number.parseInt(name.slice(8, 16), 16) * perHalf + Number.parseInt(name.slice(16), 16);
  const hex = (number: number) => number.toString(16).toUpperCase().padStart(8, '0');
  const names: string[] = [];
  for (let number = numberOf(first); number <= numberOf(last); number++) {
    names.push(`${first.slice(0, 8)}${hex(Math.floor(number / perHalf))}${hex(number % perHalf)}`);
  }
  return names;
}
