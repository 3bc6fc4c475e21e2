/** Finds problems that keep a duchy from starting in production. Reports all problems together, each with a fix. */
import { constants } from 'node:fs';
import { join } from 'node:path';
import { endpointUrl } from '@measurement-exchange/sdk/endpoints';
import { proxyRangeProblems } from '@measurement-exchange/server';
import type { DuchyConfig } from './config.ts';

const { S_IFDIR, S_IFMT } = constants;

/** A function that returns the mode of a file or folder, or undefined if it is missing or cannot be read. */
export type FileMode = (path: string) => number | undefined;

export function productionProblems(config: DuchyConfig, modeOf: FileMode): string[] {
  return [
    ...exchangeProblems(config),
    ...trustProblems(config, modeOf),
    ...endpointProblems(config),
    ...peerProblems(config),
    ...listenProblems(config, modeOf),
    ...secretProblems(config, modeOf),
    ...noiseProblems(config),
  ];
}

function exchangeProblems({ url, tokenFile, signIn, identity }: DuchyConfig): string[] {
  const problems: string[] = [];
  if (url === undefined) problems.push('url is not set: give the address of the exchange.');
  else if (!isSafe(url))
    problems.push('url must begin with https://: the token would be readable on the way.');
  if (tokenFile === undefined && signIn === undefined)
    problems.push('tokenFile is not set: give a file with the token for the exchange, or signIn.');
  if (tokenFile !== undefined && signIn !== undefined)
    problems.push('tokenFile and signIn are both set: keep one of them.');
  if (signIn !== undefined && !isSafe(signIn.issuer))
    problems.push('signIn.issuer must begin with https://: the secret would be readable on the way.');
  if (identity === undefined) problems.push('identity is not set: give the folder that mex identity made.');
  return problems;
}

/**
 * Checks that each kind of party has a root certificate, and that each certificate file is for one party. A root for
 * all parties would let one party sign for another.
 */
function trustProblems({ roots: given }: DuchyConfig, modeOf: FileMode): string[] {
  const roots = given.filter((root) => !isFolder(modeOf(root)));
  const kinds = ['measurementConsumers', 'dataProviders', 'duchies'];
  // If a folder is configured, skip the check for missing roots. The folder may be empty now, because files that are
  // added later are read without a restart.
  const missing =
    roots.length < given.length
      ? []
      : kinds.filter((kind) => !roots.some((root) => root.startsWith(`${kind}/`)));
  return [
    ...missing.map(
      (kind) =>
        `roots has no root of ${kind}: add "${kind}/…=file.pem" for each party, or a folder with ${kind}/….pem.`,
    ),
    ...roots
      .filter((root) => !/^(?:measurementConsumers|dataProviders|duchies)\/[^=/]+=/.test(root))
      .map(
        (root) =>
          `roots: ${root} names no party: write it as "dataProviders/…=${root}", or give a folder with dataProviders/….pem.`,
      ),
  ];
}

function isFolder(mode: number | undefined): boolean {
  return mode !== undefined && (mode & S_IFMT) === S_IFDIR;
}

function endpointProblems({ endpoint }: DuchyConfig): string[] {
  const remedy = 'give the https address at which providers and the other duchies reach this one.';
  if (endpoint === undefined) return [`endpoint is not set: ${remedy}`];
  return URL.parse(endpoint)?.protocol === 'https:' ? [] : [`endpoint must be an https address: ${remedy}`];
}

function peerProblems({ peers = {} }: DuchyConfig): string[] {
  return Object.entries(peers).flatMap(([peer, { endpoint }]) => {
    try {
      endpointUrl(endpoint);
      return [];
    } catch {
      return [`peers: the endpoint of ${peer} must be an https address without a path.`];
    }
  });
}

function listenProblems({ listen }: DuchyConfig, modeOf: FileMode): string[] {
  const { host, tls, behindTlsProxy, trustedProxies } = listen;
  const problems: string[] = [];
  if (behindTlsProxy && !trustedProxies?.length) {
    problems.push('listen.behindTlsProxy: list addresses of the proxy in listen.trustedProxies, as CIDRs.');
  } else if (isLoopback(host) && trustedProxies === undefined) {
    problems.push(
      `listen.host ${host} is for a proxy on this machine, behind which all senders would have one address, and one of them ` +
        'could lock the others out. Set listen.trustedProxies to the addresses of the proxy (["127.0.0.1/32", "::1/128"]), ' +
        'or to [] if there is none.',
    );
  }
  problems.push(...proxyRangeProblems('listen.trustedProxies', trustedProxies));
  if (!isLoopback(host) && tls === undefined && !behindTlsProxy) {
    problems.push(
      `listen.host ${host} is reachable from outside and has no TLS. ` +
        'Set listen.tls, or listen.behindTlsProxy, or listen on 127.0.0.1.',
    );
  }
  if (tls !== undefined) {
    if (modeOf(tls.certFile) === undefined)
      problems.push(`listen.tls.certFile ${tls.certFile} cannot be read.`);
    problems.push(...secretFileProblems('listen.tls.keyFile', tls.keyFile, modeOf));
  }
  return problems;
}

function secretProblems(config: DuchyConfig, modeOf: FileMode): string[] {
  const { secretsKeyFile, tokenFile, signIn, identity } = config;
  return [
    ...secretFileProblems('secretsKeyFile', secretsKeyFile, modeOf),
    ...(tokenFile === undefined ? [] : secretFileProblems('tokenFile', tokenFile, modeOf)),
    ...(signIn === undefined
      ? []
      : secretFileProblems('signIn.clientSecretFile', signIn.clientSecretFile, modeOf)),
    ...(identity === undefined
      ? []
      : secretFileProblems('identity', join(identity, 'signing-key.pem'), modeOf)),
  ];
}

function secretFileProblems(setting: string, path: string, modeOf: FileMode): string[] {
  const mode = modeOf(path);
  if (mode === undefined) return [`${setting} ${path} cannot be read. Check the path and its owner.`];
  if ((mode & 0o007) === 0) return [];
  return [`${setting} ${path} is open to everyone. Run: chmod o= ${path}, and replace what is in it.`];
}

function noiseProblems({ noiseMechanisms }: DuchyConfig): string[] {
  if (!noiseMechanisms.includes('NONE')) return [];
  return ['noiseMechanisms has NONE: this duchy would release exact figures. Remove it.'];
}

function isSafe(url: string): boolean {
  const parsed = URL.parse(url);
  return parsed?.protocol === 'https:' || (parsed !== null && isLoopback(parsed.hostname));
}

export function isLoopback(host: string): boolean {
  return ['localhost', '::1', '[::1]'].includes(host) || /^127(?:\.\d{1,3}){3}$/.test(host);
}
