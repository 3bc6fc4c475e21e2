/**
 * Signs in with a browser on this machine. Uses the authorization code flow with PKCE, and receives the code on a local
 * port (RFC 8252).
 */
import { spawn } from 'node:child_process';
import type { Configuration } from 'openid-client';
import { asking, loadOpenId, type OpenIdClient, type Tokens } from '../signIn/openId.ts';
import { tokensOf } from '../signIn/refresh.ts';
import { note } from '../terminal/output.ts';
import { awaitRedirect } from './redirect.ts';

export interface FlowOptions {
  client: OpenIdClient;
  config: Configuration;
  scope: string;
  timeoutSeconds: number;
}

interface BrowserOptions extends FlowOptions {
  redirect: string;
  /** If false, the user opens the printed address, for example in a browser that reaches this machine over a tunnel. */
  opensBrowser: boolean;
}

export async function signInWithBrowser(options: BrowserOptions): Promise<Tokens> {
  const { client, config, scope, timeoutSeconds, opensBrowser } = options;
  const openId = await loadOpenId();
  const pkceCodeVerifier = openId.randomPKCECodeVerifier();
  const expectedState = openId.randomState();
  const expectedNonce = openId.randomNonce();
  const codeChallenge = await openId.calculatePKCECodeChallenge(pkceCodeVerifier);
  await using redirect = await awaitRedirect(options.redirect, expectedState);
  const address = openId.buildAuthorizationUrl(config, {
    redirect_uri: redirect.uri,
    scope,
    code_challenge: codeChallenge,
    code_challenge_method: 'S256',
    state: expectedState,
    nonce: expectedNonce,
  });
  note(`Sign in at this address with a browser on this machine:\n  ${address.href}`);
  if (opensBrowser) openBrowser(address.href);
  const received = await redirect.received(timeoutSeconds);
  const secrets = [pkceCodeVerifier, ...received.searchParams.getAll('code')];
  const checks = { pkceCodeVerifier, expectedState, expectedNonce, idTokenExpected: true };
  const response = await asking(client, secrets, () =>
    openId.authorizationCodeGrant(config, received, checks),
  );
  return tokensOf(response, client);
}

/** The command that opens an address in a browser, by platform. All other platforms use xdg-open. */
const OPENERS: Partial<Record<NodeJS.Platform, [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

export function openBrowser(address: string): void {
  const [program, ...words] = OPENERS[process.platform] ?? ['xdg-open'];
  const opener = spawn(program, [...words, address], { stdio: 'ignore', detached: true });
  opener.on('error', () => {});
  opener.unref();
}
