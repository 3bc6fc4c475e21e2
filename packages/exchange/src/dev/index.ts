/** Sets up development mode: a token issuer, demo parties, a population, and a dev.json file for scripts and tests. */
import { randomBytes, X509Certificate } from 'node:crypto';
import type { Timestamp } from '@measurement-exchange/contract';
import type { Logger } from 'pino';
import { createDevIssuer, type DevIssuer, devKeyFile } from '../auth/devIssuer.ts';
import { getCertificate, insertCertificate } from '../database/certificates.ts';
import { type Database, type Queryable, uniqueViolation } from '../database/db.ts';
import { audit } from '../database/log.ts';
import { getParty, insertParty, lockParty, saveParty, setPublicKey } from '../database/parties.ts';
import { insertPopulation, lockPopulations } from '../database/populations.ts';
import { putFirstSetting } from '../database/settings.ts';
import { capabilitiesOf, newParty, updateParty } from '../domain/party.ts';
import { newPopulation, populationName } from '../domain/population.ts';
import { describeCertificate } from '../domain/x509.ts';
import { DEMO_POPULATION } from './demoPopulation.ts';
import { createDevFile, type DemoParties } from './devFile.ts';
import { type DescribedParty, ensureDemoParties, PUBLISHERS } from './parties.ts';

export { devServerTls, withDevRoot } from './root.ts';
export { devKeyFile };

export interface Development {
  issuer: DevIssuer;
  parties: DemoParties;
  /** All demo parties, and then the operator. Pages show them in this order. */
  everybody: { name: string; displayName: string }[];
  publishers: string[];
  stop(): void;
}

/** Returns two random keys in base64. The database stores the keys, so that all replicas use the same keys. */
export async function devKeys(db: Queryable): Promise<{ pageTokenKey: string; secretsKey: string }> {
  const key = () => randomBytes(32).toString('base64');
  return {
    pageTokenKey: await putFirstSetting(db, 'devPageTokenKey', key()),
    secretsKey: await putFirstSetting(db, 'devSecretsKey', key()),
  };
}

export async function startDevelopment(options: {
  dataDir: string;
  baseUrl: string;
  addresses: Record<string, string>;
  db: Database;
  clock: () => Timestamp;
  duchies: boolean;
  publishers: boolean;
  newId: () => string;
  log: Logger;
}): Promise<Development> {
  const { dataDir, baseUrl, addresses, db, clock, duchies, publishers, newId, log } = options;
  if (duchies) await ensurePopulation(db, clock());
  const parties = await ensureDemoParties({
    dataDir,
    duchies,
    publishers,
    newId,
    clock: Date.now,
    store: {
      ensureParty: (party) => ensureParty(db, party, clock()),
      certificateExists: async (name) => {
        const [collection, id, , certificate] = name.split('/');
        const party = `${collection}/${id}`;
        const found = await getCertificate(db, party, certificate!);
        if (found === undefined) return false;
        return new X509Certificate(found.x509Der).subjectAltName === `URI:mex:${party}`;
      },
      addCertificate: ({ party, id, der }) =>
        insertCertificate(db, {
          ...describeCertificate(der),
          ...{ party, id, x509Der: der, revocationState: undefined, version: 1, createTime: clock() },
        }),
      setPublicKey: ({ party, certificate, ...key }) =>
        setPublicKey(db, party, { ...key, certificate: certificate.split('/').at(-1)! }),
    },
  });
  const issuer = await createDevIssuer({ keyFile: devKeyFile(dataDir), baseUrl });
  const file = createDevFile({
    dataDir,
    baseUrl,
    addresses,
    issuer,
    parties,
    onError: (error) => log.error({ reason: String(error) }, 'dev.json was not renewed'),
  });
  await file.write();
  file.startRenewal();
  const names = publishers ? PUBLISHERS.map(({ name }) => name) : [];
  return { issuer, parties, everybody: everybodyOf(parties), publishers: names, stop: () => file.stop() };
}

function everybodyOf({
  measurementConsumers,
  dataProviders,
  duchies,
}: DemoParties): Development['everybody'] {
  const parties = [...measurementConsumers, ...dataProviders, ...duchies];
  return [
    ...parties.map(({ name, displayName }) => ({ name, displayName })),
    { name: 'operator', displayName: 'Operator' },
  ];
}

async function ensureParty(db: Database, party: DescribedParty, now: Timestamp): Promise<void> {
  const { name, displayName, ...described } = party;
  if (await getParty(db, name, now)) return describeParty(db, name, described, now);
  await insertParty(db, newParty(name, { displayName, ...described }, now, 'anywhere')).catch((error) => {
    // Another replica that started at the same time may have created the party.
    if (uniqueViolation(error) === undefined) throw error;
  });
}

const AUTHOR = { principal: 'operator', requestId: 'development' };

async function describeParty(
  db: Database,
  name: string,
  { endpoint, capabilities }: Pick<DescribedParty, 'endpoint' | 'capabilities'>,
  now: Timestamp,
): Promise<void> {
  if (endpoint === undefined && capabilities === undefined) return;
  await db.tx('describeDemoParty', async (tx) => {
    const before = (await lockParty(tx, name, now))!;
    const after = updateParty(
      before,
      {
        ...(endpoint && { endpoint }),
        ...(capabilities && { capabilities: { ...capabilitiesOf(before.protocols), ...capabilities } }),
      },
      now,
      'anywhere',
    );
    const same = after.endpoint === before.endpoint && after.protocols.length === before.protocols.length;
    if (same) return;
    saveParty(tx, after);
    audit(tx, { ...AUTHOR, operation: 'updateParty', name, version: after.version, time: after.updateTime });
  });
}

/** Creates the demo population as the default, unless it exists or the operator has chosen another default. */
async function ensurePopulation(db: Database, now: Timestamp): Promise<void> {
  await db.tx('ensureDemoPopulation', async (tx) => {
    const { id, ...population } = DEMO_POPULATION;
    const { existing, current } = await lockPopulations(tx, id);
    if (existing !== undefined || current !== undefined) return;
    insertPopulation(tx, newPopulation(id, population, now));
    audit(tx, { ...AUTHOR, operation: 'createPopulation', name: populationName(id), version: 1, time: now });
  });
}
