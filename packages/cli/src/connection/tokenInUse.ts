/** Remembers the token that the command sent last, to explain why the exchange rejects it. */
import { claimsOf } from '../signIn/claims.ts';
import { visible } from '../terminal/output.ts';

type TokenSource = string | (() => string | Promise<string>);

let lastToken: string | undefined;

export function remembering(source: TokenSource): () => Promise<string> {
  return async () => {
    lastToken = typeof source === 'string' ? source : await source();
    return lastToken;
  };
}

/**
 * Returns advice about a rejected token, based on the token's claims. The exchange gives the same reason for every
 * invalid token, so the reason alone does not help the user.
 */
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
