/**
 * Signs in with OpenID Connect: the authorization code flow with PKCE, in a popup window. The page itself stays open, so the
 * verifier and the token stay in its memory, and nothing that was typed is lost.
 */
import * as oauth from 'oauth4webapi';
import type { ServedBy } from '../companion/methods.ts';

export type Issuer = NonNullable<ServedBy['issuers']>[number];

/** The page that the issuer returns to. It passes its address on, and closes. */
export const RETURN_PATH = '/signed-in';
const CHANNEL = 'mex-sign-in';
/** A token is replaced this long before it expires. */
const EARLY_MS = 30_000;

export class SignInCancelled extends Error {
  override name = 'SignInCancelled';
}

/** Opens the issuer's page, and returns a token source. Must be called from a click, so that the popup is allowed. */
export async function signIn(issuer: Issuer): Promise<{ token: () => Promise<string> }> {
  const popup = window.open('about:blank', CHANNEL, 'popup,width=480,height=640');
  const options = { [oauth.allowInsecureRequests]: location.protocol === 'http:' };
  const url = new URL(issuer.issuer);
  const server = await oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, options));
  const client: oauth.Client = { client_id: issuer.clientId };
  let current = await grant(popup, server, client, issuer);
  return {
    async token() {
      if (current.expiresAt - EARLY_MS > Date.now()) return current.token;
      if (current.refreshToken === undefined) throw new SignInExpired();
      const response = await oauth.refreshTokenGrantRequest(
        server,
        client,
        oauth.None(),
        current.refreshToken,
        options,
      );
      current = tokensOf(await oauth.processRefreshTokenResponse(server, client, response), current);
      return current.token;
    },
  };
}

export class SignInExpired extends Error {
  override name = 'SignInExpired';
  constructor() {
    super('Your sign-in has expired. Nothing you typed is lost.');
  }
}

interface Tokens {
  token: string;
  expiresAt: number;
  refreshToken: string | undefined;
}

async function grant(
  popup: Window | null,
  server: oauth.AuthorizationServer,
  client: oauth.Client,
  issuer: Issuer,
): Promise<Tokens> {
  if (popup === null)
    throw new SignInCancelled('The browser blocked the sign-in window: allow popups for this page.');
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const redirect = `${location.origin}${RETURN_PATH}`;
  const authorize = new URL(server.authorization_endpoint!);
  const parameters = {
    client_id: client.client_id,
    redirect_uri: redirect,
    response_type: 'code',
    scope: issuer.scope ?? 'openid',
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
  };
  for (const [name, value] of Object.entries(parameters)) authorize.searchParams.set(name, value);
  const returned = await answerOf(popup, authorize);
  const checked = oauth.validateAuthResponse(server, client, returned, state);
  const options = { [oauth.allowInsecureRequests]: location.protocol === 'http:' };
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.None(),
    checked,
    redirect,
    verifier,
    options,
  );
  return tokensOf(await oauth.processAuthorizationCodeResponse(server, client, response));
}

/** Sends the popup to the issuer, and waits until it comes back to `RETURN_PATH` or is closed. */
function answerOf(popup: Window, authorize: URL): Promise<URL> {
  const { promise, resolve, reject } = Promise.withResolvers<URL>();
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = ({ data }) => resolve(new URL(String(data), location.origin));
  const closed = setInterval(() => {
    if (popup.closed) reject(new SignInCancelled('The sign-in window was closed.'));
  }, 500);
  popup.location.href = authorize.href;
  return promise.finally(() => {
    clearInterval(closed);
    channel.close();
    popup.close();
  });
}

/** Called on `RETURN_PATH`: passes the issuer's answer to the page that opened this window. */
export function passOn(): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage(location.href);
  // Leave no code in this window's address or history.
  history.replaceState(null, '', RETURN_PATH);
  channel.close();
  window.close();
}

function tokensOf(response: oauth.TokenEndpointResponse, earlier?: Tokens): Tokens {
  const { access_token: token, expires_in: seconds = 300, refresh_token: refreshToken } = response;
  return {
    token,
    expiresAt: Date.now() + seconds * 1000,
    refreshToken: refreshToken ?? earlier?.refreshToken,
  };
}
