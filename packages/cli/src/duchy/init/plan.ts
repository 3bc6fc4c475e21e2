/** Plans a new duchy: its settings, and the other files in its folder. */
import type { JsonObject } from '@measurement-exchange/contract';

export interface InitOptions {
  out: string;
  displayName?: string;
  url?: string;
  endpoint?: string;
  databaseUrl?: string;
  dev?: boolean;
  json?: boolean;
}

export interface Plan {
  /** The contents of duchy.json. */
  settings: JsonObject & { endpoint: string };
  /** The duchy's token for the exchange. Undefined if the duchy's operator must add the token file. */
  token?: string;
  roots: Record<string, string>;
  principal?: { issuer: string; subject: string };
  /** The contents of exchange.json, the settings that make a development exchange use the duchy. */
  exchange?: JsonObject;
  introduce?: (rootPem: string) => Promise<void>;
}

export const FILES = {
  settings: 'duchy.json',
  identity: 'keys',
  roots: 'roots',
  secretsKey: 'secrets.key',
  token: 'token',
  exchange: 'exchange.json',
};

export function settingsOf(
  { databaseUrl }: InitOptions,
  own: { url: string; endpoint: string; listen: JsonObject },
): Plan['settings'] {
  return {
    ...own,
    tokenFile: FILES.token,
    identity: FILES.identity,
    roots: [FILES.roots],
    secretsKeyFile: FILES.secretsKey,
    ...(databaseUrl === undefined ? { dataDir: 'data' } : { databaseUrl }),
  };
}

export function productionPlan(options: InitOptions): Plan {
  const { url, endpoint } = options;
  if (url === undefined || endpoint === undefined) {
    throw new Error(
      'Say where the exchange is (--url) and where others will reach the duchy (--endpoint), or try one with --dev.',
    );
  }
  for (const [option, address] of Object.entries({ '--url': url, '--endpoint': endpoint })) {
    if (URL.parse(address)?.protocol !== 'https:') {
      throw new Error(`${option} must be an https address, such as https://alpha.example.com.`);
    }
  }
  const tls = { certFile: 'tls.pem', keyFile: 'tls.key' };
  const listen = { host: '0.0.0.0', port: Number(new URL(endpoint).port || 8443), tls };
  return { settings: settingsOf(options, { url, endpoint, listen }), roots: {} };
}
