/**
 * Checks the settings for PostgreSQL. Each new connection reads the password again, because the password may have
 * changed.
 */
import { isIP } from 'node:net';
import type { ClientConfig } from 'pg';
import { EventsUnavailable } from '../errors.ts';
import { quoteName } from './parameters.ts';

export interface PostgresSource {
  kind: 'postgres';
  /**
   * The URL of the database, such as `postgres://warehouse.internal:5432/ads`, without user name and password. For a
   * Unix socket, use `postgres:///ads?host=/run/postgresql`.
   */
  url: string;
  /** The table or view, such as `ads.impressions`. The default schema is `public`. */
  table: string;
  user?: string;
  /** Returns the password. Called for each new connection. */
  password?: () => Promise<string>;
  /** The certificate of the authority that signed the server's certificate, in PEM. Default: well-known authorities. */
  ca?: string;
  /** The time limit for one query, in seconds. Default: 600. The server's own limit is 5 seconds longer. */
  timeoutSeconds?: number;
}

/** Returns the settings of a new connection. */
export type Connect = () => Promise<ClientConfig>;

const FORM = 'postgres://warehouse.internal:5432/ads';

/** Checks the settings without connecting. If a setting is not valid, throws an Error that names it. */
export function connectOf({ url: text, user, password, ca }: PostgresSource): Connect {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^postgres(ql)?:$/.test(url.protocol)) throw wrong('url', `must be like ${FORM}`);
  if (url.username !== '' || url.password !== '') {
    throw wrong('url', 'must have no user and no password: set user, and passwordFile or passwordVariable');
  }
  const { host: socket, port: socketPort, ...others } = Object.fromEntries(url.searchParams);
  if (Object.keys(others).length > 0) throw wrong('url', 'may have the parameters host and port only');
  const host = socket || decodeURIComponent(url.hostname).replace(/^\[(.*)\]$/, '$1');
  const database = decodeURIComponent(url.pathname.slice(1));
  if (host === '' || database === '') throw wrong('url', `must name a host and a database, like ${FORM}`);
  if (!user) throw wrong('user', 'is missing: name the account that may read the table');
  const fixed = {
    host,
    port: Number(socketPort ?? (url.port || 5432)),
    database,
    user,
    ssl: tlsOf(host, ca),
  };
  return async () => {
    const text = password === undefined ? '' : await read(password);
    // A function prevents the driver from using PGPASSWORD or the pgpass file if the password is empty.
    return { ...fixed, password: () => text };
  };
}

/**
 * Requires TLS with a verified certificate, to protect the password and the VIDs. A server on this machine needs no
 * TLS, unless `ca` is set.
 */
function tlsOf(host: string, ca: string | undefined): ClientConfig['ssl'] {
  const isHere = host.startsWith('/') || host === 'localhost' || host === '::1' || /^127\./.test(host);
  if (isHere && ca === undefined) return false;
  return {
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    ...(isIP(host) === 0 && { servername: host }),
    ...(ca !== undefined && { ca }),
  };
}

async function read(password: () => Promise<string>): Promise<string> {
  try {
    return await password();
  } catch (error) {
    const { code = 'unknown error' } = error as { code?: string };
    throw new EventsUnavailable(
      `The password of events.source cannot be read (${code}): correct its file or variable.`,
    );
  }
}

/** Returns the quoted name of the table. */
export function tableName(table: string): string {
  const [, schema = 'public', name] = /^(?:([A-Za-z_][\w$]*)\.)?([A-Za-z_][\w$]*)$/.exec(table) ?? [];
  if (name === undefined) throw wrong('table', 'must be the name of a table, like ads.impressions');
  return `${quoteName(schema)}.${quoteName(name)}`;
}

const wrong = (setting: string, what: string) => new Error(`events.source.${setting} ${what}.`);
