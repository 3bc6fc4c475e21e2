/** Checks the token issuers and their key sources in production mode. */
import { hostOf, isPublicHost } from '@measurement-exchange/contract';
import { ASYMMETRIC_ALGORITHMS, type IssuerConfig } from '../../auth/claims.ts';
import type { Config } from '../config.ts';
import type { ProcessFacts } from './process.ts';

const LONGEST_TOKEN_AGE_SECONDS = 7 * 24 * 3600;

export function issuerProblems(config: Config, { file }: Pick<ProcessFacts, 'file'>): string[] {
  const { issuers, allowedPrivateHosts } = config;
  if (issuers.length === 0) {
    return ['issuers is empty: nobody could call. List your identity provider: issuer, audience, jwksUri.'];
  }
  const problems = issuers.flatMap((issuer, i) =>
    oneIssuer(issuer, allowedPrivateHosts, file).map((problem) => `issuers[${i}].${problem}`),
  );
  const names = issuers.map((issuer) => issuer.issuer);
  for (const twice of new Set(names.filter((name, i) => names.indexOf(name) < i))) {
    problems.push(`issuers: ${twice} is listed twice. Keep one.`);
  }
  return problems;
}

function oneIssuer(config: IssuerConfig, allowed: string[], file: ProcessFacts['file']): string[] {
  const { issuer, audience, jwksUri, jwksFile, algorithms, maxTokenAgeSeconds: age } = config;
  const problems: string[] = [];
  if (httpsUrl(issuer) === undefined) {
    problems.push('issuer must be the https URL that the tokens have as iss.');
  }
  if (audience === '') {
    problems.push('audience is empty. Give the one that tokens for this exchange have as aud.');
  }
  if (!jwksUri === !jwksFile) problems.push('jwksUri or jwksFile, exactly one of them, must be given.');
  if (jwksUri) problems.push(...jwksProblems(jwksUri, allowed));
  if (jwksFile && !file(jwksFile)?.readable) {
    problems.push(`jwksFile ${jwksFile} cannot be read. Put the issuer's public keys there.`);
  }
  const bad = algorithms?.filter((algorithm) => !ASYMMETRIC_ALGORITHMS.includes(algorithm));
  if (algorithms?.length === 0 || (bad !== undefined && bad.length > 0)) {
    problems.push(
      `algorithms ${bad!.length > 0 ? `has ${bad!.join(', ')}` : 'is empty'}. Leave it out, or choose from ${ASYMMETRIC_ALGORITHMS.join(', ')}.`,
    );
  }
  if (age === undefined || !(age > 0 && age <= LONGEST_TOKEN_AGE_SECONDS)) {
    problems.push(
      `maxTokenAgeSeconds must be set, above 0 and at most ${LONGEST_TOKEN_AGE_SECONDS} (7 days): a day is 86400.`,
    );
  }
  return problems;
}

function jwksProblems(jwksUri: string, allowed: string[]): string[] {
  const url = httpsUrl(jwksUri);
  if (url === undefined)
    return ['jwksUri must be an https URL: somebody who can change the keys can sign tokens.'];
  const host = hostOf(url);
  // Check only the host name, not its address, because the address could change after the check.
  if (isPublicHost(host) || allowed.includes(host)) return [];
  return [
    `jwksUri: ${host} is a private address or name. If that is right, add "${host}" to allowedPrivateHosts.`,
  ];
}

function httpsUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === 'https:' ? url : undefined;
}
