/** Creates the demo parties and stores their keys in dev.json. If the file or the database was lost, creates new keys. */
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
/** Data providers whose agents run as long as the exchange. No agent runs for DATA_PROVIDERS, so people can act as them. */
export const PUBLISHERS = [
  { name: 'dataProviders/northlight', displayName: 'Northlight TV' },
  { name: 'dataProviders/pinwheel', displayName: 'Pinwheel Social' },
  { name: 'dataProviders/harbor', displayName: 'Harbor News' },
];

const CAPABILITIES = {
  honestMajorityShareShuffleSupported: true,
  reachOnlyLiquidLegionsV2Supported: true,
  liquidLegionsV2Supported: true,
} as const;

/** A demo party without its keys. */
export interface DescribedParty extends Pick<DemoParty, 'name' | 'displayName' | 'endpoint'> {
  /** The multi-party protocols that a data provider supports. */
  capabilities?: typeof CAPABILITIES;
}

/**
 * The exchange operations needed to create demo parties. `party` is a resource name such as `measurementConsumers/acme`.
 */
export interface DemoStore {
  ensureParty(party: DescribedParty): Promise<void>;
  /**
   * Returns whether the certificate exists and contains its party's name. Certificates from earlier versions lack the name.
   */
  certificateExists(name: string): Promise<boolean>;
  addCertificate(certificate: { party: string; id: string; der: Uint8Array }): Promise<void>;
  /** `message` is a serialized EncryptionPublicKey. `signature` (DER) was made with the key of `certificate`. */
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
  duchies: boolean;
  publishers: boolean;
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
  const dataProviders = [...DATA_PROVIDERS, ...(options.publishers ? PUBLISHERS : [])];
  return {
    rootCertificatePem: root.certificatePem,
    measurementConsumers: await ensureAll(MEASUREMENT_CONSUMERS),
    dataProviders: await ensureAll(dataProviders.map((provider) => ({ ...provider, ...capabilities }))),
    duchies: await ensureAll(duchies),
  };
}

/**
 * Returns an earlier run's parties by name. The map is empty if the root certificate is new, because the parties'
 * certificates were issued by the previous root.
 */
function storedParties(file: Partial<DemoParties>, root: Root): Map<string, DemoParty> {
  if (file.rootCertificatePem !== root.certificatePem) return new Map();
  const lists: unknown[] = [file.measurementConsumers, file.dataProviders, file.duchies];
  return new Map(
    lists.flatMap((list) => (Array.isArray(list) ? list.filter(isDemoParty) : [])).map((p) => [p.name, p]),
  );
}

const REQUIRED = [
  ...(['name', 'certificate', 'privateKeyPem'] as const),
  ...(['encryptionPublicKey', 'encryptionPrivateKey'] as const),
];

function isDemoParty(value: Partial<DemoParty> | null): value is DemoParty {
  const isComplete = REQUIRED.every((member) => typeof value?.[member] === 'string');
  return isComplete && ['string', 'undefined'].includes(typeof value?.endpoint);
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
