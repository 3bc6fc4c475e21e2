/** Exchanges a refresh token for a new ID token. */
import { asking, discover, loadOpenId, type OpenIdClient, type Tokens } from './openId.ts';

export async function refresh(client: OpenIdClient, refreshToken: string): Promise<Tokens> {
  const { refreshTokenGrant } = await loadOpenId();
  const config = await discover(client);
  const response = await asking(client, [refreshToken], () => refreshTokenGrant(config, refreshToken));
  return tokensOf(response, client);
}

/**
 * Returns the tokens in an issuer's response. If a response to `refresh` has no refresh token, the old refresh token
 * stays valid, and the caller keeps it.
 */
export function tokensOf(
  { id_token, refresh_token }: { id_token?: string; refresh_token?: string },
  { issuer }: OpenIdClient,
): Tokens {
  if (id_token === undefined) {
    throw new Error(`${issuer} sent no ID token: the scope must contain openid.`);
  }
  return { idToken: id_token, ...(refresh_token !== undefined && { refreshToken: refresh_token }) };
}
