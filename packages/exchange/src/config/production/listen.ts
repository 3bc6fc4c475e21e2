/** Checks the listen address, trusted proxies, and limits in production mode. */
import { proxyRangeProblems } from '@measurement-exchange/server';
import { type Config, isLoopback } from '../config.ts';
import { TlsFiles } from '../setting.ts';
import { settingsOf } from '../settings.ts';
import type { ProcessFacts } from './process.ts';
import { secretFileProblems } from './secrets.ts';

const MAX_BODY_BYTES = 16 * 1024 * 1024;

export function listenProblems(config: Config, { file }: Pick<ProcessFacts, 'file'>): string[] {
  const { host, tls, behindTlsProxy, trustedProxies } = config;
  const problems: string[] = [];
  if (!isLoopback(host) && tls === undefined && !behindTlsProxy) {
    problems.push(
      `host ${host} is reachable from outside and has no TLS: tokens would be readable on the way. ` +
        'Set tls, or behindTlsProxy with trustedProxies, or listen on 127.0.0.1.',
    );
  }
  if (behindTlsProxy && !trustedProxies?.length) {
    problems.push('behindTlsProxy: list the addresses of the proxy in trustedProxies, as CIDRs.');
  } else if (isLoopback(host) && trustedProxies === undefined) {
    problems.push(
      `host ${host} is for a proxy on this machine, behind which all callers would have one address and share its ` +
        'limits. Set trustedProxies to the addresses of the proxy (["127.0.0.1/32", "::1/128"]), or to [] if there is none.',
    );
  }
  problems.push(...proxyRangeProblems('trustedProxies', trustedProxies));
  for (const { name, value } of settingsOf(TlsFiles, config)) {
    if (!file(value.certFile)?.readable) problems.push(`${name}.certFile ${value.certFile} cannot be read.`);
    problems.push(...secretFileProblems(`${name}.keyFile`, value.keyFile, file));
  }
  return problems;
}

export function limitProblems({ bodyLimitBytes, rate, rates }: Config): string[] {
  const problems: string[] = [];
  if (!(bodyLimitBytes > 0 && bodyLimitBytes <= MAX_BODY_BYTES)) {
    problems.push(`bodyLimitBytes must be above 0 and at most ${MAX_BODY_BYTES} (16 MiB).`);
  }
  const all = {
    rate,
    ...Object.fromEntries(Object.entries(rates).map(([who, r]) => [`rates["${who}"]`, r])),
  };
  for (const [setting, { perSecond, burst }] of Object.entries(all)) {
    if (!(perSecond > 0)) {
      problems.push(
        `${setting}.perSecond must be above 0. To exclude a party, suspend it; a rate cannot be unlimited.`,
      );
    }
    // With a burst below 1, the rate limiter never has a whole token and rejects every request.
    if (!(burst >= 1)) problems.push(`${setting}.burst must be at least 1.`);
  }
  return problems;
}
