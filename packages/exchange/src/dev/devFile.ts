/**
 * Writes and reads `dev.json`, which contains keys and tokens. Scripts and tests use them to act as the operator or a
 * demo party.
 */
import { join } from 'node:path';
import type { DevIssuer } from '../auth/devIssuer.ts';
import { readIfExists, writePrivateFile } from '../auth/privateFile.ts';

export interface DemoParty {
  name: string;
  displayName: string;
  endpoint?: string;
  /** The name of the certificate for `privateKeyPem` (PKCS#8). */
  certificate: string;
  privateKeyPem: string;
  /** Tink keysets in base64. */
  encryptionPublicKey: string;
  encryptionPrivateKey: string;
  /** The party's client certificate for TLS, and its private key (PKCS#8). */
  clientCertificatePem: string;
  clientPrivateKeyPem: string;
}

export interface DemoParties {
  rootCertificatePem: string;
  measurementConsumers: DemoParty[];
  dataProviders: DemoParty[];
  duchies: DemoParty[];
}

/**
 * Tokens are valid for 12 h. The file is rewritten every 6 h, so a token in the file is valid for at least 6 more
 * hours.
 */
const RENEWAL_MS = 6 * 3600_000;

export function createDevFile(options: {
  dataDir: string;
  baseUrl: string;
  /** The addresses of all servers except the HTTP server, by the name that each server has in the file. */
  addresses: Record<string, string>;
  issuer: DevIssuer;
  parties: DemoParties;
  onError: (error: unknown) => void;
}) {
  const { dataDir, baseUrl, addresses, issuer, parties, onError } = options;
  const { rootCertificatePem: rootPem } = parties;
  const servers = Object.entries(addresses).map(([name, address]) => [name, { address, rootPem }]);
  const withTokens = (list: DemoParty[]) =>
    Promise.all(list.map(async (party) => ({ ...party, token: await issuer.mint(party.name) })));
  let timer: NodeJS.Timeout | undefined;

  async function write(): Promise<void> {
    const contents = {
      baseUrl,
      ...Object.fromEntries(servers),
      operator: { token: await issuer.mint('operator') },
      rootCertificatePem: rootPem,
      measurementConsumers: await withTokens(parties.measurementConsumers),
      dataProviders: await withTokens(parties.dataProviders),
      duchies: await withTokens(parties.duchies),
    };
    await writePrivateFile(devFilePath(dataDir), `${JSON.stringify(contents, null, 2)}\n`);
  }
  return {
    write,
    startRenewal() {
      timer = setInterval(() => write().catch(onError), RENEWAL_MS).unref();
    },
    stop: () => clearInterval(timer),
  };
}

/** Reads the file. Any member may be missing from the result or have a wrong type, because people edit the file. */
export async function readDevFile(dataDir: string): Promise<Partial<DemoParties>> {
  const text = await readIfExists(devFilePath(dataDir));
  try {
    const contents: unknown = JSON.parse(text ?? '{}');
    return typeof contents === 'object' && contents !== null ? contents : {};
  } catch {
    return {};
  }
}

function devFilePath(dataDir: string): string {
  return join(dataDir, 'dev.json');
}
