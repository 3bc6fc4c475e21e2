/** The links that faults are made on, and how to lead them through a proxy. */
import type { NetConnectOpts } from 'node:net';
import type { ChaosProxy } from './proxy.ts';

/** Where a server of this URL listens: a directory as host means the Unix socket in it. */
export function targetOf(url: string): NetConnectOpts {
  const { hostname, port } = new URL(url);
  const host = decodeURIComponent(hostname);
  return host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port: Number(port) };
}

/** For `WorldOptions.databaseUrl`: leads to the database through the proxy. */
export function through(proxy: ChaosProxy): (direct: string) => string {
  return (direct) => {
    proxy.target = targetOf(direct);
    return proxied(direct, proxy);
  };
}

/** The same URL, through the proxy. */
export function proxied(url: string, proxy: ChaosProxy): string {
  const { host, port } = proxy.address;
  return url.replace(/@[^/]*\//, `@${host}:${port}/`);
}
