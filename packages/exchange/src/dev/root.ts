/** The demo root, which issues the certificates of the demo parties and of the gRPC server in development mode. */
import { join } from 'node:path';
import { createRoot, issueLeaf, type Root } from '@measurement-exchange/sdk/identity';
import { readOrMakePrivateJson } from '../auth/privateFile.ts';

export function devRoot(dataDir: string, now: number): Promise<Root> {
  return readOrMakePrivateJson(join(dataDir, 'dev-root.json'), () =>
    createRoot('Measurement Exchange demo root', now),
  );
}

/** Returns a new certificate for TLS on loopback, in PEM, and its key. */
export async function devServerTls(dataDir: string, now: number): Promise<{ cert: string; key: string }> {
  const hosts = ['localhost', '127.0.0.1', '::1'];
  const leaf = await issueLeaf(await devRoot(dataDir, now), 'localhost', now, { hosts, days: 365 });
  return { cert: leaf.certificatePem, key: leaf.privateKeyPem };
}
