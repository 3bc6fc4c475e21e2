/** Development mode: a token issuer, demo parties, and dev.json, the file that scripts and tests use. */
import { randomBytes, X509Certificate } from 'node:crypto';
import type { Timestamp } from '@measurement-exchange/contract';
import type { Logger } from 'pino';
import { createDevIssuer, type DevIssuer, devKeyFile } from '../auth/devIssuer.ts';
import { getCertificate, insertCertificate } from '../database/certificates.ts';
import { type Queryable, uniqueViolation } from '../database/db.ts';
import { getParty, insertParty, setPublicKey } from '../database/parties.ts';
import { putFirstSetting } from '../database/settings.ts';
import { newParty } from '../domain/party.ts';
import { describeCertificate } from '../domain/x509.ts';
import { createDevFile, type DemoParties } from './devFile.ts';
import { ensureDemoParties } from './parties.ts';

export { devKeyFile };

export interface Development {
  issuer: DevIssuer;
  parties: DemoParties;
  stop(): void;
}

/** Base64; stored in the database, so that replicas on one database share it. */
export function devPageTokenKey(db: Queryable): Promise<string> {
  return putFirstSetting(db, 'devPageTokenKey', randomBytes(32).toString('base64'));
}

export async function startDevelopment(options: {
  dataDir: string;
  baseUrl: string;
  db: Queryable;
  clock: () => Timestamp;
  newId: () => string;
  log: Logger;
}): Promise<Development> {
  const { dataDir, baseUrl, db, clock, newId, log } = options;
  const parties = await ensureDemoParties({
    dataDir,
    newId,
    clock: Date.now,
    store: {
      ensureParty: async (name, displayName) => {
        if (await getParty(db, name, clock())) return;
        await insertParty(db, newParty(name, { displayName }, clock())).catch((error) => {
          // Another replica that started at the same time created it first.
          if (uniqueViolation(error) === undefined) throw error;
        });
      },
      certificateExists: async (name) => {
        const [collection, id, , certificate] = name.split('/');
        const party = `${collection}/${id}`;
        const found = await getCertificate(db, party, certificate!);
        if (found === undefined) return false;
        return new X509Certificate(found.x509Der).subjectAltName === `URI:mex:${party}`;
      },
      addCertificate: ({ party, id, der }) =>
        insertCertificate(
          db,
          { ...describeCertificate(der), party, id, x509Der: der, revocationState: undefined },
          clock(),
        ),
      setPublicKey: ({ party, certificate, ...key }) =>
        setPublicKey(db, party, { ...key, certificate: certificate.split('/').at(-1)! }),
    },
  });
  const issuer = await createDevIssuer({ keyFile: devKeyFile(dataDir), baseUrl });
  const file = createDevFile({
    dataDir,
    baseUrl,
    issuer,
    parties,
    onError: (error) => log.error({ reason: String(error) }, 'dev.json was not renewed'),
  });
  await file.write();
  file.startRenewal();
  return { issuer, parties, stop: () => file.stop() };
}
