/** A real OpenID provider on this machine. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';
import { vi } from 'vitest';

/** The client IDs of `mex login`, an agent and a duchy. */
export const CLIENT = 'mex';
export const AGENT = 'lakeside-agent';
export const DUCHY = 'alpha-duchy';
export const SECRET = 'the-secret-of-lakeside';

export interface TestProvider {
  url: string;
  /** The lifetime of tokens in seconds. */
  lifetime: number;
  /** The grants that issued tokens, in order. */
  grants: string[];
  stop: () => Promise<void>;
}

const program = (
  client_id: string,
  token_endpoint_auth_method: 'client_secret_post' | 'client_secret_basic',
) => ({
  client_id,
  client_secret: SECRET,
  token_endpoint_auth_method,
  grant_types: ['client_credentials'],
  redirect_uris: [],
  response_types: [],
});

export async function startProvider(): Promise<TestProvider> {
  // The provider prints long warnings about settings that are unfit for production, so the console is silenced.
  const quiet = [vi.spyOn(console, 'info'), vi.spyOn(console, 'warn')].map((spy) => spy.mockReturnValue());
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const started: TestProvider = {
    url,
    lifetime: 3600,
    grants: [],
    stop: async () => {
      for (const spy of quiet) spy.mockRestore();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  const lifetime = () => started.lifetime;
  const provider = new Provider(url, {
    clients: [
      {
        client_id: CLIENT,
        application_type: 'native',
        token_endpoint_auth_method: 'none',
        // The redirect addresses of mex login and of the console at an exchange.
        redirect_uris: ['http://127.0.0.1/callback', 'http://127.0.0.1/signed-in'],
        grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
      },
      program(AGENT, 'client_secret_post'),
      program(DUCHY, 'client_secret_basic'),
    ],
    ttl: { IdToken: lifetime },
    issueRefreshToken: () => true,
    // Allow CORS, because the console's page calls the token endpoint from the page's own origin.
    clientBasedCORS: () => true,
    features: {
      clientCredentials: { enabled: true },
      deviceFlow: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({
          scope: 'exchange',
          audience: CLIENT,
          accessTokenTTL: started.lifetime,
          accessTokenFormat: 'jwt',
        }),
      },
    },
    formats: {
      customizers: {
        // Keycloak, Entra ID and Auth0 issue tokens of this form.
        jwt: (_context, token, jwt) => {
          jwt.header = { ...jwt.header, typ: 'JWT' };
          jwt.payload.azp = token.clientId;
        },
      },
    },
  });
  provider.on('grant.success', ({ oidc }) => started.grants.push(String(oidc.params?.grant_type)));
  server.on('request', provider.callback());
  return started;
}
