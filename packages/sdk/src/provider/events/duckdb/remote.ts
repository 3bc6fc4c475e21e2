/**
 * Files at an S3-compatible store. The engine reads them with its extension httpfs, which is never downloaded: the
 * operator provides the extension and its checksum. The engine can access only addresses with the configured prefixes.
 */
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { quoteName, quoteText } from './sql.ts';

/** Access to an S3-compatible store. */
export interface RemoteFiles {
  /** The beginnings of the addresses that may be read, such as `s3://lakeside-events/2026/`. */
  prefixes: string[];
  /**
   * The file of DuckDB's extension httpfs, built for the DuckDB version and the platform in use, and the SHA-256 of
   * this file in hexadecimal.
   */
  extension: { file: string; sha256: string };
  /** The address of the store, such as `https://minio.internal:9000`. Default: AWS. */
  endpoint?: string;
  region?: string;
  /**
   * Whether the bucket is part of the host name (`vhost`) or of the path (`path`). Default: `path` if `endpoint` is
   * set, otherwise `vhost`.
   */
  urlStyle?: 'vhost' | 'path';
  keyId?: string;
  /** Returns the secret key. Called when the events are opened. */
  secret?: () => Promise<string>;
  /**
   * A file with the certificate of the authority that signed the store's certificate. Default: well-known authorities.
   */
  caFile?: string;
}

export const isRemote = (file: string) => /^[a-z][a-z0-9+.-]+:\/\//i.test(file);

const PREFIX = /^s3:\/\/[a-z0-9][a-z0-9.-]+\/(?:[^?*[\]{}]*\/)?$/i;

/**
 * Checks the addresses of remote event files, and the settings of the store. Throws an Error that names the invalid
 * setting.
 */
export function requireAllowed(addresses: string[], remote: RemoteFiles | undefined): void {
  if (remote === undefined) {
    if (addresses.length === 0) return;
    throw new Error(
      `files must be on this machine, and ${addresses[0]} is not: move it here, or set remote with its prefix.`,
    );
  }
  const { prefixes, extension, endpoint } = remote;
  const wrong = prefixes.find((prefix) => !PREFIX.test(prefix) || hasDots(prefix));
  if (wrong !== undefined || prefixes.length === 0) {
    throw new Error(
      'remote.prefixes must be like s3://bucket/folder/, without patterns, and end with a slash.',
    );
  }
  const foreign = addresses.find(
    (address) => !prefixes.some((prefix) => address.startsWith(prefix)) || hasDots(address),
  );
  if (foreign !== undefined) throw new Error(`files: ${foreign} begins with none of remote.prefixes.`);
  const asked = addresses.find((address) => address.includes('?'));
  if (asked !== undefined) throw new Error(`files: ${asked} must have no question mark: use * instead.`);
  if (!/^[0-9a-f]{64}$/i.test(extension.sha256)) {
    throw new Error('remote.extension.sha256 must be the SHA-256 of the file, 64 hexadecimal digits.');
  }
  if (endpoint !== undefined) endpointOf(endpoint);
}

const hasDots = (address: string) => address.split('/').some((part) => part === '..' || part === '.');

/**
 * Loads the extension, and creates the engine's secrets for the store. Call this before running the statements of
 * `confinement`, which lock the engine's settings.
 */
export async function connectRemote(
  connection: DuckDBConnection,
  remote: RemoteFiles,
  scratch: string,
): Promise<void> {
  const remedy = await extensionRemedy(connection);
  const copy = await checkedCopy(remote.extension, scratch, remedy);
  await connection.run(`LOAD ${quoteText(copy)}`).catch((error: Error) => {
    const reason = error.message.split('\n', 1)[0];
    throw new Error(
      `remote.extension.file: ${remote.extension.file} cannot be loaded: ${reason}. Instead, ${remedy}`,
    );
  });
  const statements = [
    'SET GLOBAL enable_server_cert_verification = true',
    ...(remote.caFile === undefined
      ? []
      : [`SET GLOBAL ca_cert_file = ${quoteText(resolve(remote.caFile))}`]),
    ...secretStatements(remote, (await remote.secret?.()) ?? ''),
  ];
  for (const [i, statement] of statements.entries()) {
    // Do not pass on the engine's error, because its message may quote the secret.
    await connection.run(statement).catch(() => {
      throw new Error(`remote: the engine does not accept the settings of the store (statement ${i + 1}).`);
    });
  }
}

/** Returns advice for a missing or wrong extension. The right file depends on the engine's version and platform. */
async function extensionRemedy(connection: DuckDBConnection): Promise<string> {
  const sql = 'SELECT library_version, platform FROM pragma_version(), pragma_platform()';
  const [[version, platform]] = (await connection.runAndReadAll(sql)).getRowsJson() as [[string, string]];
  const address = `https://extensions.duckdb.org/${version}/${platform}/httpfs.duckdb_extension.gz`;
  return `download ${address} on a machine with internet access, unpack it with gunzip, and put it there.`;
}

/**
 * Checks the extension's SHA-256, and copies the extension to the engine's own folder, so that the engine loads exactly
 * the content that was checked.
 */
async function checkedCopy(
  { file, sha256 }: RemoteFiles['extension'],
  scratch: string,
  remedy: string,
): Promise<string> {
  const content = await readFile(resolve(file)).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`remote.extension.file: ${file} cannot be read (${error.code}): ${remedy}`);
  });
  const found = createHash('sha256').update(content).digest('hex');
  if (found !== sha256.toLowerCase()) {
    throw new Error(`remote.extension: the SHA-256 of ${file} is ${found}, and not the one in the settings.`);
  }
  const copy = join(scratch, 'httpfs.duckdb_extension');
  await writeFile(copy, content, { mode: 0o600 });
  return copy;
}

/**
 * Returns SQL statements that create one DuckDB secret for each prefix. DuckDB then sends the key only to addresses
 * that begin with one of these prefixes.
 */
export function secretStatements(remote: RemoteFiles, secret: string): string[] {
  const { prefixes, endpoint, region, urlStyle = endpoint ? 'path' : 'vhost', keyId } = remote;
  const { host, isEncrypted } =
    endpoint === undefined ? { host: undefined, isEncrypted: true } : endpointOf(endpoint);
  const options = {
    ...(keyId !== undefined && { KEY_ID: quoteText(keyId), SECRET: quoteText(secret) }),
    ...(region !== undefined && { REGION: quoteText(region) }),
    ...(host !== undefined && { ENDPOINT: quoteText(host) }),
    URL_STYLE: quoteText(urlStyle),
    USE_SSL: String(isEncrypted),
  };
  const list = Object.entries(options).map(([name, value]) => `${name} ${value}`);
  return prefixes.map(
    (prefix, i) =>
      `CREATE SECRET ${quoteName(`store ${i}`)} (TYPE s3, SCOPE ${quoteText(prefix)}, ${list.join(', ')})`,
  );
}

/** Parses the address of a store. The address must use HTTPS, unless the store is on this machine. */
function endpointOf(endpoint: string): { host: string; isEncrypted: boolean } {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  const isEncrypted = url?.protocol === 'https:';
  const isHere = url?.protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url !== undefined && (isEncrypted || isHere) && url.pathname === '/' && url.username === '') {
    return { host: url.host, isEncrypted };
  }
  throw new Error('remote.endpoint must be like https://minio.internal:9000, without a path and an account.');
}
