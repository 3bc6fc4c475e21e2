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
import { DUCHIES, endpointOf } from './duchies.ts';

const MEASUREMENT_CONSUMERS = [
  { name: 'measurementConsumers/acme', displayName: 'Acme Beverages' },
  { name: 'measurementConsumers/globex', displayName: 'Globex Motors' },
];
const DATA_PROVIDERS = [
  { name: 'dataProviders/streamly', displayName: 'Streamly TV' },
  { name: 'dataProviders/chirper', displayName: 'Chirper Social' },
  { name: 'dataProviders/dailynews', displayName: 'Daily News' },
];

const CAPABILITIES = {
  honestMajorityShareShuffleSupported: true,
  reachOnlyLiquidLegionsV2Supported: true,
  liquidLegionsV2Supported: true,
} as const;

/** A demo party as it is registered, without its keys. */
export interface DescribedParty {
  name: string;
  displayName: string;
  /** The URL at which a duchy listens. */
  endpoint?: string;
  /** The multi-party protocols in which a data provider takes part. */
  capabilities?: typeof CAPABILITIES;
}

/** The operations of the exchange that demo parties need. Parties are resource names, `measurementConsumers/acme`. */
export interface DemoStore {
  ensureParty(party: DescribedParty): Promise<void>;
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
  /** Whether there are demo duchies. */
  duchies: boolean;
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
  const ensureAll = async (parties: DescribedParty[]) => {
    const ensured: DemoParty[] = [];
    for (const party of parties) ensured.push(await ensure(party, stored.get(party.name), root, options));
    return ensured;
  };
  const duchies: DescribedParty[] = [];
  for (const duchy of options.duchies ? DUCHIES : []) {
    duchies.push({ ...duchy, endpoint: await endpointOf(stored.get(duchy.name)?.endpoint) });
  }
  const capabilities = options.duchies && { capabilities: CAPABILITIES };
  return {
    rootCertificatePem: root.certificatePem,
    measurementConsumers: await ensureAll(MEASUREMENT_CONSUMERS),
    dataProviders: await ensureAll(DATA_PROVIDERS.map((provider) => ({ ...provider, ...capabilities }))),
    duchies: await ensureAll(duchies),
  };
}

/** Parties of an earlier run by name; none when the root was lost, because their certificates chain to it. */
function storedParties(file: Partial<DemoParties>, root: Root): Map<string, DemoParty> {
  if (file.rootCertificatePem !== root.certificatePem) return new Map();
  const lists: unknown[] = [file.measurementConsumers, file.dataProviders, file.duchies];
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
  return (
    fields.every((field) => typeof field === 'string') &&
    ['string', 'undefined'].includes(typeof value?.endpoint)
  );
}

async function ensure(
  party: DescribedParty,
  stored: DemoParty | undefined,
  root: Root,
  { store, clock, newId }: Options,
): Promise<DemoParty> {
  const { name, displayName, endpoint } = party;
  await store.ensureParty(party);
  const described = { name, displayName, ...(endpoint && { endpoint }) };
  if (
    stored?.certificate.startsWith(`${name}/certificates/`) &&
    (await store.certificateExists(stored.certificate))
  ) {
    const { certificate, privateKeyPem, encryptionPublicKey, encryptionPrivateKey } = stored;
    return { ...described, certificate, privateKeyPem, encryptionPublicKey, encryptionPrivateKey };
  }

  const id = newId();
  const certificate = `${name}/certificates/${id}`;
  const { der, privateKeyPem } = await issueLeaf(root, displayName, clock(), { party: name });
  const { publicKeyset, privateKeyset } = await createEncryptionKeysets();
  const { message, signature } = await signEncryptionKey(publicKeyset, privateKeyPem);
  await store.addCertificate({ party: name, id, der });
  await store.setPublicKey({ party: name, message, signature, certificate });
  return {
    ...described,
    certificate,
    privateKeyPem,
    encryptionPublicKey: toBase64(publicKeyset),
    encryptionPrivateKey: toBase64(privateKeyset),
  };
}
