/**
 * Signs in with OpenID Connect: the authorization code flow with PKCE, in a window of the issuer. The page itself stays open,
 * so the verifier and the tokens stay in its memory, and nothing that was typed is lost.
 */
import * as oauth from 'oauth4webapi';
import type { ServedBy } from '../companion/methods.ts';
import { Login, type Tokens } from './login.ts';

export type Issuer = NonNullable<ServedBy['issuers']>[number];

/** The page that the issuer returns to. It passes its address on, and closes. */
export const RETURN_PATH = '/signed-in';
const CHANNEL = 'mex-sign-in';

export interface SignInOptions {
  /** The demo party that was picked. The development issuer asks nothing more, so no window is needed. */
  principal?: string;
  /** Aborted if the person gives up. A closed window alone is not noticed, because issuers may hide it from the page. */
  signal: AbortSignal;
}

export class SignInCancelled extends Error {
  override name = 'SignInCancelled';
}

/** Signs in. Must be called from a click, so that the browser allows the window. */
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

/** A development exchange has no https. */
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

/** Asks for a refresh token where the issuer has them. Without one, people sign in again when the token ends. */
function scopeOf({ scopes_supported = [] }: oauth.AuthorizationServer): string {
  return scopes_supported.includes('offline_access') ? 'openid offline_access' : 'openid';
}

/** Sends the window to the issuer, and waits until it comes back to `RETURN_PATH`. */
function answerOf(popup: Window, authorize: URL, state: string, signal: AbortSignal): Promise<URL> {
  const { promise, resolve, reject } = Promise.withResolvers<URL>();
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = ({ data }) => {
    const url = new URL(String(data), location.origin);
    // Another tab may be signing in at the same time.
    if (url.searchParams.get('state') === state) resolve(url);
  };
  const cancel = () => reject(new SignInCancelled('The sign-in was canceled.'));
  if (signal.aborted) cancel();
  signal.addEventListener('abort', cancel, { once: true });
  popup.location.href = authorize.href;
  return promise.finally(() => channel.close());
}

/** The development issuer is on the page's own origin and asks nothing, so the page itself can follow its redirect. */
async function answerHere(authorize: URL, signal: AbortSignal): Promise<URL> {
  const response = await fetch(authorize, { signal, headers: { accept: 'text/html' }, cache: 'no-store' });
  if (response.ok) return new URL(response.url);
  throw new SignInCancelled(`The development issuer answered ${response.status}: ${await response.text()}`);
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

async function refresh({ server, client }: Provider, refreshToken: string): Promise<Tokens> {
  const response = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), refreshToken, INSECURE);
  const tokens = tokensOf(await oauth.processRefreshTokenResponse(server, client, response));
  return { ...tokens, refreshToken: tokens.refreshToken ?? refreshToken };
}

/** The exchange accepts ID tokens, not access tokens. */
function tokensOf(response: oauth.TokenEndpointResponse): Tokens {
  const { id_token: idToken, refresh_token: refreshToken } = response;
  const claims = oauth.getValidatedIdTokenClaims(response);
  if (idToken === undefined || claims === undefined) throw new Error('The issuer sent no ID token.');
  return { idToken, refreshToken, sub: claims.sub, expiresAt: claims.exp * 1000 };
}
