/** `dev.json`: what scripts and tests need to act as the operator and as each demo party. */
import { join } from 'node:path';
import type { DevIssuer } from '../auth/devIssuer.ts';
import { readIfExists, writePrivateFile } from '../auth/privateFile.ts';

export interface DemoParty {
  name: string;
  displayName: string;
  /** The URL at which a duchy listens. */
  endpoint?: string;
  /** The name of the certificate that goes with `privateKeyPem` (PKCS#8). */
  certificate: string;
  privateKeyPem: string;
  /** Tink keysets in base64. */
  encryptionPublicKey: string;
  encryptionPrivateKey: string;
}

export interface DemoParties {
  rootCertificatePem: string;
  measurementConsumers: DemoParty[];
  dataProviders: DemoParty[];
  duchies: DemoParty[];
}

export interface DevFile {
  /** Writes the file with fresh tokens. */
  write(): Promise<void>;
  startRenewal(): void;
  stop(): void;
}

/** Half of a token's life, so that a token read from the file has 6 h left at least. */
const RENEWAL_MS = 6 * 3600_000;

export function createDevFile(options: {
  dataDir: string;
  baseUrl: string;
  issuer: DevIssuer;
  parties: DemoParties;
  /** Called when a renewal failed; the next one is in 6 h. */
  onError: (error: unknown) => void;
}): DevFile {
  const { dataDir, baseUrl, issuer, parties, onError } = options;
  const withTokens = (list: DemoParty[]) =>
    Promise.all(list.map(async (party) => ({ ...party, token: await issuer.mint(party.name) })));
  let timer: NodeJS.Timeout | undefined;

  const file: DevFile = {
    async write() {
      const contents = {
        baseUrl,
        operator: { token: await issuer.mint('operator') },
        rootCertificatePem: parties.rootCertificatePem,
        measurementConsumers: await withTokens(parties.measurementConsumers),
        dataProviders: await withTokens(parties.dataProviders),
        duchies: await withTokens(parties.duchies),
      };
      await writePrivateFile(devFilePath(dataDir), `${JSON.stringify(contents, null, 2)}\n`);
    },
    startRenewal() {
      timer ??= setInterval(() => file.write().catch(onError), RENEWAL_MS).unref();
    },
    stop() {
      clearInterval(timer);
      timer = undefined;
    },
  };
  return file;
}

/** Reads the file of an earlier run; any part may be missing, since people edit and delete it. */
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
