/** Checks the database URL before the exchange connects and sends a password. */
import { isLoopback } from '../config.ts';
import type { ProcessFacts } from './process.ts';
import { secretFileProblems } from './secrets.ts';

/**
 * The parameters that the URL may have. Other parameters could change the timeouts and the time zone that the exchange
 * sets.
 */
const PARAMETERS = ['host', 'port', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslnegotiation'];
const FILES = ['sslrootcert', 'sslcert', 'sslkey'];
/** Passwords from manuals, container images, and docs/production.md. The role's name is rejected as a password too. */
const EXAMPLE_PASSWORD = /^(?:postgres|password|passw0rd|secret|example|changeme|test|mex)$/;

export function databaseUrlProblems(
  setting: string,
  text: string,
  { env, file }: Pick<ProcessFacts, 'env' | 'file'>,
): string[] {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^postgres(ql)?:$/.test(url.protocol)) {
    return [`${setting} must be a URL: postgres://role:password@host/database?sslmode=verify-full`];
  }
  // Use the last value of a repeated parameter, as the database driver does.
  const parameters: Record<string, string> = Object.fromEntries(url.searchParams);
  const host = parameters.host || decode(url.hostname).replace(/^\[(.*)\]$/, '$1');
  const role = decode(url.username);
  if (host === '' || role === '' || url.pathname.length < 2) {
    return [`${setting} must name a role, a host and a database (a socket's folder as %2Frun%2Fpostgresql).`];
  }

  const problems: string[] = [];
  for (const name of Object.keys(parameters).filter((name) => !PARAMETERS.includes(name))) {
    problems.push(`${setting}: the parameter ${name} is not supported. Remove it.`);
  }
  for (const name of FILES) {
    const path = parameters[name];
    if (path === undefined) continue;
    if (name === 'sslkey') problems.push(...secretFileProblems(`${setting}: sslkey`, path, file));
    else if (!file(path)?.readable) problems.push(`${setting}: ${name} ${path} cannot be read.`);
  }
  if (host.startsWith('/')) return problems;

  if (!isLoopback(host) && parameters.sslmode !== 'verify-full') {
    problems.push(
      `${setting}: ${host} is another machine: add sslmode=verify-full (and sslrootcert=… for a private CA).`,
    );
  }
  const password = decode(url.password) || env.PGPASSWORD || '';
  if (password === '' && parameters.sslcert === undefined) {
    problems.push(`${setting} has no password. Give one, or a client certificate (sslcert, sslkey).`);
  } else if (isExample(password, role)) {
    problems.push(`${setting} has a password that anyone would guess. Make one: openssl rand -hex 24`);
  }
  return problems;
}

function isExample(password: string, role: string): boolean {
  const plain = password.toLowerCase().replace(/[-_\s]/g, '');
  return plain !== '' && (password === role || EXAMPLE_PASSWORD.test(plain));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // A % that does not start an escape is an ordinary character.
  }
}
