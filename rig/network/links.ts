/** Helpers that route connections through a proxy. */
import type { NetConnectOpts } from 'node:net';
import type { ChaosProxy } from './proxy.ts';

/** The address that a URL points to. A directory as host means the Unix socket in that directory. */
export function targetOf(url: string): NetConnectOpts {
  const { hostname, port } = new URL(url);
  const host = decodeURIComponent(hostname);
  return host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port: Number(port) };
}

/** Returns a value for `WorldOptions.databaseUrl` that routes connections to the database through the proxy. */
export function through(proxy: ChaosProxy): (direct: string) => string {
  return (direct) => {
    proxy.target = targetOf(direct);
    return proxied(direct, proxy);
  };
}

/** Replaces the host and port of a URL with those of the proxy. */
export function proxied(url: string, proxy: ChaosProxy): string {
  const { host, port } = proxy.address;
  return url.replace(/@[^/]*\//, `@${host}:${port}/`);
}
