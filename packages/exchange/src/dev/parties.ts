/** The demo parties: created once with their keys in dev.json, and repaired when the file or the database was lost. */
import { join } from 'node:path';
import { toBase64 } from '@measurement-exchange/contract';
import {
  createEncryptionKeysets,
  createRoot,
  issueLeaf,
  type Root,
  signEncryptionKey,
} from '@measurement-exchange/sdk/identity';
import { readOrMakePrivateJson } from '../auth/privateFile.ts';
import { type DemoParties, type DemoParty, readDevFile } from './devFile.ts';

const MEASUREMENT_CONSUMERS = [
  { name: 'measurementConsumers/acme', displayName: 'Acme Beverages' },
  { name: 'measurementConsumers/globex', displayName: 'Globex Motors' },
];
const DATA_PROVIDERS = [
  { name: 'dataProviders/streamly', displayName: 'Streamly TV' },
  { name: 'dataProviders/chirper', displayName: 'Chirper Social' },
  { name: 'dataProviders/dailynews', displayName: 'Daily News' },
];

/** The operations of the exchange that demo parties need. Parties are resource names, `measurementConsumers/acme`. */
export interface DemoStore {
  ensureParty(name: string, displayName: string): Promise<void>;
  /** Whether it exists and names its party, which those of earlier versions did not. */
  certificateExists(name: string): Promise<boolean>;
  addCertificate(certificate: { party: string; id: string; der: Uint8Array }): Promise<void>;
  /** `message` is a serialized EncryptionPublicKey, signed (DER) with the key of the named certificate. */
  setPublicKey(key: {
    party: string;
    message: Uint8Array;
    signature: Uint8Array;
    certificate: string;
  }): Promise<void>;
}

interface Options {
  dataDir: string;
  store: DemoStore;
  /** Epoch milliseconds. */
  clock: () => number;
  newId: () => string;
}

export async function ensureDemoParties(options: Options): Promise<DemoParties> {
  const { dataDir, clock } = options;
  const root = await readOrMakePrivateJson(join(dataDir, 'dev-root.json'), () =>
    createRoot('Measurement Exchange demo root', clock()),
  );
  const stored = storedParties(await readDevFile(dataDir), root);
  const ensureAll = async (parties: typeof DATA_PROVIDERS) => {
    const ensured: DemoParty[] = [];
    for (const party of parties) ensured.push(await ensure(party, stored.get(party.name), root, options));
    return ensured;
  };
  return {
    rootCertificatePem: root.certificatePem,
    measurementConsumers: await ensureAll(MEASUREMENT_CONSUMERS),
    dataProviders: await ensureAll(DATA_PROVIDERS),
    duchies: [],
  };
}

/** Parties of an earlier run by name; none when the root was lost, because their certificates chain to it. */
function storedParties(file: Partial<DemoParties>, root: Root): Map<string, DemoParty> {
  if (file.rootCertificatePem !== root.certificatePem) return new Map();
  const lists: unknown[] = [file.measurementConsumers, file.dataProviders];
  return new Map(
    lists.flatMap((list) => (Array.isArray(list) ? list.filter(isDemoParty) : [])).map((p) => [p.name, p]),
  );
}

function isDemoParty(value: Partial<DemoParty> | null): value is DemoParty {
  const fields = [
    value?.name,
    value?.certificate,
    value?.privateKeyPem,
    value?.encryptionPublicKey,
    value?.encryptionPrivateKey,
  ];
  return fields.every((field) => typeof field === 'string');
}

async function ensure(
  { name, displayName }: { name: string; displayName: string },
  stored: DemoParty | undefined,
  root: Root,
  { store, clock, newId }: Options,
): Promise<DemoParty> {
  await store.ensureParty(name, displayName);
  if (
    stored?.certificate.startsWith(`${name}/certificates/`) &&
    (await store.certificateExists(stored.certificate))
  ) {
    const { certificate, privateKeyPem, encryptionPublicKey, encryptionPrivateKey } = stored;
    return { name, displayName, certificate, privateKeyPem, encryptionPublicKey, encryptionPrivateKey };
  }

  const id = newId();
  const certificate = `${name}/certificates/${id}`;
  const { der, privateKeyPem } = await issueLeaf(root, displayName, clock(), { party: name });
  const { publicKeyset, privateKeyset } = await createEncryptionKeysets();
  const { message, signature } = await signEncryptionKey(publicKeyset, privateKeyPem);
  await store.addCertificate({ party: name, id, der });
  await store.setPublicKey({ party: name, message, signature, certificate });
  return {
    name,
    displayName,
    certificate,
    privateKeyPem,
    encryptionPublicKey: toBase64(publicKeyset),
    encryptionPrivateKey: toBase64(privateKeyset),
  };
}
