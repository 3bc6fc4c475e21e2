/** The token that the command sent last, to say why the exchange does not accept it. */
import { claimsOf } from '../signIn/claims.ts';
import { visible } from '../terminal/output.ts';

type TokenSource = string | (() => string | Promise<string>);

let lastToken: string | undefined;

/** Returns the same source, which remembers the tokens that it returns. */
export function remembering(source: TokenSource): () => Promise<string> {
  return async () => {
    lastToken = typeof source === 'string' ? source : await source();
    return lastToken;
  };
}

/** Says what is wrong with the token in use, as far as the caller can tell: the exchange gives one reason for all of it. */
export function tokenAdvice(reason: string, now = Date.now()): string | undefined {
  const claims = lastToken === undefined ? undefined : claimsOf(lastToken);
  if (claims === undefined) return undefined;
  const iss = visible(String(claims.iss));
  const sub = visible(String(claims.sub));
  if (reason === 'PRINCIPAL_UNKNOWN') {
    return `Ask the operator to bind your token to your party: mex admin principals bind <party> --issuer '${iss}' --subject '${sub}'.`;
  }
  if (reason !== 'TOKEN_INVALID') return undefined;
  if (typeof claims.exp === 'number' && claims.exp * 1000 < now) {
    return `The token expired at ${new Date(claims.exp * 1000).toISOString()}.`;
  }
  const aud = visible([claims.aud].flat().join(', '));
  const azp =
    claims.azp === undefined || claims.azp === claims.aud ? '' : `, clients with ${visible(claims.azp)}`;
  return (
    `The token is for ${sub}. If it is fresh, the operator of the exchange must add to its setting issuers: ` +
    `issuer ${iss}, audience ${aud}${azp}.`
  );
}
