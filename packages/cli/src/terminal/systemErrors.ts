/** Explains an error of the operating system or of PostgreSQL in one sentence, with advice. */
import { resolve, sep } from 'node:path';

type SystemError = NodeJS.ErrnoException & {
  address?: string;
  port?: number;
  hostname?: string;
  /** Only errors that the PostgreSQL server returns have a severity. */
  severity?: string;
};

const DATABASE_URL = 'the database URL (DATABASE_URL, or databaseUrl in the settings)';

export function systemSentence(error: unknown): string | undefined {
  // If a host name has several addresses, Node combines the errors of all addresses into one. Explain only the first
  // error.
  const failure: SystemError = error instanceof AggregateError ? error.errors[0] : error;
  const { code, syscall, severity, message } = failure;
  if (severity !== undefined && code !== undefined) return postgresSentence(code, message);
  if (message.startsWith('SASL: ')) {
    return `PostgreSQL asks for a password, and there is none in ${DATABASE_URL}: postgres://user:password@host/database.`;
  }
  if (message === 'The server does not support SSL connections') {
    return `PostgreSQL does not speak TLS there: remove sslmode from ${DATABASE_URL}, or turn TLS on at the server.`;
  }
  if (code === undefined || syscall === undefined) return undefined;
  if (syscall === 'listen') return listenSentence(failure);
  if (syscall === 'connect' || syscall === 'getaddrinfo') return connectSentence(failure);
  return failure.path === undefined ? undefined : fileSentence(failure);
}

const POSTGRES_REMEDIES: Record<string, string> = {
  '28000': `correct the user and the password in ${DATABASE_URL}`,
  '28P01': `correct the user and the password in ${DATABASE_URL}`,
  '3D000': `create it, or correct ${DATABASE_URL}`,
  '42501': 'grant it to this user, or run the command as the owner of the schema (DATABASE_OWNER_URL)',
  '42P01': 'bring the schema to this version with mex migrate',
  '53300': 'close other connections, or raise max_connections of the server',
  '57P03': 'the server starts or stops: try again in a moment',
};

function postgresSentence(code: string, message: string): string | undefined {
  const remedy = POSTGRES_REMEDIES[code];
  return remedy && `PostgreSQL says: ${message} (${code}). What to do: ${remedy}.`;
}

function listenSentence({ code, address = '', port = 0 }: SystemError): string | undefined {
  const another = 'choose another one with --port or PORT';
  if (code === 'EADDRINUSE') {
    return `Port ${port} of ${address} is in use (EADDRINUSE): stop the program that listens there, or ${another}.`;
  }
  if (code === 'EACCES') {
    return `Port ${port} needs more rights than this user has (EACCES): ${another}, from 1024 on.`;
  }
  if (code === 'EADDRNOTAVAIL') {
    return `${address} is not an address of this machine (EADDRNOTAVAIL): set HOST to one, or unset it.`;
  }
  return undefined;
}

/**
 * Describes a failed connection to PostgreSQL. The connection cannot be to the exchange, because commands call the
 * exchange with fetch, whose errors have a different form.
 */
function connectSentence({ code, address, port, hostname, path }: SystemError): string {
  const where = hostname ?? path ?? (port === undefined ? address : `${address}:${port}`);
  return `PostgreSQL does not respond at ${where} (${code}): start it there, or correct ${DATABASE_URL}.`;
}

const VERBS: Record<string, string> = {
  mkdir: 'created',
  scandir: 'read',
  open: 'opened',
  rename: 'renamed',
};
const FILE_REMEDIES: Record<string, string> = {
  EACCES: 'this user may not do that: change the permissions, or name another place',
  EPERM: 'this user may not do that: change the permissions, or name another place',
  EROFS: 'its file system is read-only: name another place',
  ENOENT: 'it is not there: check the path',
  ENOTDIR: 'a part of this path is a file and not a folder: check the path',
  EISDIR: 'it is a folder: name a file',
  EEXIST: 'it is there already: name another place',
  ENOSPC: 'the disk is full: free some space',
};

function fileSentence({ code = '', syscall = '', path = '' }: SystemError): string | undefined {
  const remedy = FILE_REMEDIES[code];
  if (remedy === undefined) return undefined;
  const dataDir = resolve(process.env.MEX_DATA_DIR ?? '.mex');
  const isData = `${resolve(path)}${sep}`.startsWith(`${dataDir}${sep}`);
  const setting = isData ? ' (MEX_DATA_DIR names the data directory)' : '';
  return `${path} cannot be ${VERBS[syscall] ?? 'used'} (${code}): ${remedy}${setting}.`;
}
