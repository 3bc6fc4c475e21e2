/**
 * Signs in with OpenID Connect: the authorization code flow with PKCE, in a separate window. The page stays open, so
 * the verifier and the tokens stay in its memory, and no input is lost.
 */
import * as oauth from 'oauth4webapi';
import type { ServedBy } from '../companion/methods.ts';
import { Login, type Tokens } from './login.ts';

export type Issuer = NonNullable<ServedBy['issuers']>[number];

/**
 * The page to which the issuer redirects the sign-in window. This page sends its own address, which contains the
 * issuer's response, to the page that opened the window. Then the window closes.
 */
export const RETURN_PATH = '/signed-in';
const CHANNEL = 'mex-sign-in';

export interface SignInOptions {
  /** A demo party that the user has picked. No window is needed, because the development issuer asks no questions. */
  principal?: string;
  /**
   * Aborted if the user cancels. The page cannot detect a closed window, because an issuer's response headers can
   * separate the window from the page.
   */
  signal: AbortSignal;
}

export class SignInCancelled extends Error {
  override name = 'SignInCancelled';
}

/** Signs in. Call this from a click handler, because browsers block windows that do not open in response to a click. */
export async function signIn(issuer: Issuer, options: SignInOptions): Promise<Login> {
  const popup = options.principal === undefined ? openWindow() : undefined;
  try {
    const url = new URL(issuer.issuer);
    const server = await oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, INSECURE));
    const provider = { server, client: { client_id: issuer.clientId } };
    const tokens = await grant(provider, issuer, popup, options);
    const { sub: subject } = tokens;
    return new Login(tokens, {
      refresh: (refreshToken) => refresh(provider, refreshToken),
      again: async (signal) => {
        const renewed = await signIn(issuer, { ...options, signal });
        if (renewed.subject !== subject)
          throw new SignInCancelled('You signed in as somebody else. This page needs the same account.');
        return renewed.tokens;
      },
    });
  } finally {
    popup?.close();
  }
}

interface Provider {
  server: oauth.AuthorizationServer;
  client: oauth.Client;
}

/** Allow an issuer without TLS only if the page itself has no TLS, as on a development exchange. */
/** The maximum duration of a refresh, because API calls wait for it. */
const REFRESH_MS = 15_000;

const INSECURE = { [oauth.allowInsecureRequests]: location.protocol === 'http:' };

function openWindow(): Window {
  const popup = window.open('about:blank', CHANNEL, 'popup,width=480,height=640');
  if (popup !== null) return popup;
  throw new SignInCancelled(
    'The browser blocked the sign-in window. Allow windows of this page, and try again.',
  );
}

async function grant(
  { server, client }: Provider,
  issuer: Issuer,
  popup: Window | undefined,
  { principal, signal }: SignInOptions,
): Promise<Tokens> {
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const redirect = `${location.origin}${RETURN_PATH}`;
  const authorize = new URL(server.authorization_endpoint!);
  const parameters = {
    client_id: client.client_id,
    redirect_uri: redirect,
    response_type: 'code',
    scope: issuer.scope ?? scopeOf(server),
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    ...(principal !== undefined && { login_hint: principal }),
  };
  for (const [name, value] of Object.entries(parameters)) authorize.searchParams.set(name, value);
  const returned = popup
    ? await answerOf(popup, authorize, state, signal)
    : await answerHere(authorize, signal);
  const checked = oauth.validateAuthResponse(server, client, returned, state);
  const response = await oauth.authorizationCodeGrantRequest(
    ...([server, client, oauth.None(), checked, redirect, verifier, INSECURE] as const),
  );
  return tokensOf(
    await oauth.processAuthorizationCodeResponse(server, client, response, { requireIdToken: true }),
  );
}

/**
 * Returns the scopes to request. If the issuer supports refresh tokens, the scopes request one. Otherwise, users sign
 * in again when the ID token expires.
 */
function scopeOf({ scopes_supported = [] }: oauth.AuthorizationServer): string {
  return scopes_supported.includes('offline_access') ? 'openid offline_access' : 'openid';
}

/** Sends the window to the issuer, and waits until the issuer redirects it to `RETURN_PATH`. */
function answerOf(popup: Window, authorize: URL, state: string, signal: AbortSignal): Promise<URL> {
  const { promise, resolve, reject } = Promise.withResolvers<URL>();
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = ({ data }) => {
    const url = new URL(String(data), location.origin);
    // Ignore a response with another `state`, because another tab may be signing in at the same time.
    if (url.searchParams.get('state') === state) resolve(url);
  };
  const cancel = () => reject(new SignInCancelled('The sign-in was canceled.'));
  if (signal.aborted) cancel();
  signal.addEventListener('abort', cancel, { once: true });
  popup.location.href = authorize.href;
  return promise.finally(() => channel.close());
}

/**
 * Signs in without a window. The development issuer has the page's own origin and asks no questions, so `fetch` can
 * follow its redirect.
 */
async function answerHere(authorize: URL, signal: AbortSignal): Promise<URL> {
  const response = await fetch(authorize, { signal, headers: { accept: 'text/html' }, cache: 'no-store' });
  if (response.ok) return new URL(response.url);
  throw new SignInCancelled(`The development issuer answered ${response.status}: ${await response.text()}`);
}

/** Runs on `RETURN_PATH`. Sends the issuer's response to the page that opened this window. */
export function passOn(): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage(location.href);
  // Remove the authorization code from this window's address and history.
  history.replaceState(null, '', RETURN_PATH);
  channel.close();
  window.close();
}

async function refresh({ server, client }: Provider, refreshToken: string): Promise<Tokens | undefined> {
  const options = { ...INSECURE, signal: AbortSignal.timeout(REFRESH_MS) };
  try {
    const response = await oauth.refreshTokenGrantRequest(
      server,
      client,
      oauth.None(),
      refreshToken,
      options,
    );
    const tokens = tokensOf(await oauth.processRefreshTokenResponse(server, client, response));
    return { ...tokens, refreshToken: tokens.refreshToken ?? refreshToken };
  } catch (error) {
    if (error instanceof oauth.ResponseBodyError) return undefined;
    throw error;
  }
}

/**
 * Returns the ID token and the refresh token from the response. The page sends the ID token to the exchange, and does
 * not use the access token.
 */
function tokensOf(response: oauth.TokenEndpointResponse): Tokens {
  const { id_token: idToken, refresh_token: refreshToken } = response;
  const claims = oauth.getValidatedIdTokenClaims(response);
  if (idToken === undefined || claims === undefined) throw new Error('The issuer sent no ID token.');
  return { idToken, refreshToken, sub: claims.sub, expiresAt: claims.exp * 1000 };
}
