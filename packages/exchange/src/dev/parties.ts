/** Creates the demo parties. Reuses their keys from dev.json, or creates keys if the file or the database was lost. */
import { toBase64 } from '@measurement-exchange/contract';
import {
  createEncryptionKeysets,
  issueLeaf,
  type Root,
  signEncryptionKey,
} from '@measurement-exchange/sdk/identity';
import { type DemoParties, type DemoParty, readDevFile } from './devFile.ts';
import { DUCHIES, endpointOf } from './duchies.ts';
import { devRoot } from './root.ts';

const MEASUREMENT_CONSUMERS = [
  { name: 'measurementConsumers/acme', displayName: 'Acme Beverages' },
  { name: 'measurementConsumers/globex', displayName: 'Globex Motors' },
];
const DATA_PROVIDERS = [
  { name: 'dataProviders/streamly', displayName: 'Streamly TV' },
  { name: 'dataProviders/chirper', displayName: 'Chirper Social' },
  { name: 'dataProviders/dailynews', displayName: 'Daily News' },
];
/**
 * Data providers for which agents run. No agents run for the providers in DATA_PROVIDERS, so that users can act as
 * them.
 */
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

export interface DescribedParty extends Pick<DemoParty, 'name' | 'displayName' | 'endpoint'> {
  capabilities?: typeof CAPABILITIES;
}

export interface DemoStore {
  ensureParty(party: DescribedParty): Promise<void>;
  /**
   * Returns whether the database has this certificate. Earlier versions of the exchange created certificates without
   * the party's name. For such a certificate, returns false, so that it is replaced.
   */
  certificateExists(name: string): Promise<boolean>;
  addCertificate(certificate: { party: string; id: string; der: Uint8Array }): Promise<void>;
  /** `message` is a serialized EncryptionPublicKey. `signature` is DER, made with the key of `certificate`. */
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
  /** Returns the current time in epoch milliseconds. */
  clock: () => number;
  newId: () => string;
}

export async function ensureDemoParties(options: Options): Promise<DemoParties> {
  const { dataDir, clock } = options;
  const root = await devRoot(dataDir, clock());
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

/** A party in dev.json. The client certificate is missing if an earlier version of the exchange wrote the file. */
type StoredParty = Omit<DemoParty, keyof ClientIdentity> & Partial<ClientIdentity>;
type ClientIdentity = Pick<DemoParty, 'clientCertificatePem' | 'clientPrivateKeyPem'>;

/**
 * Returns the parties that an earlier run stored, keyed by name. Returns an empty map if the root certificate has
 * changed, because the exchange no longer trusts certificates that the old root issued.
 */
function storedParties(file: Partial<DemoParties>, root: Root): Map<string, StoredParty> {
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

const OPTIONAL = ['endpoint', 'clientCertificatePem', 'clientPrivateKeyPem'] as const;

function isDemoParty(value: Partial<DemoParty> | null): value is StoredParty {
  const isComplete = REQUIRED.every((member) => typeof value?.[member] === 'string');
  return isComplete && OPTIONAL.every((member) => ['string', 'undefined'].includes(typeof value?.[member]));
}

async function ensure(
  party: DescribedParty,
  stored: StoredParty | undefined,
  root: Root,
  { store, clock, newId }: Options,
): Promise<DemoParty> {
  const { name, displayName, endpoint } = party;
  await store.ensureParty(party);
  const described = {
    ...{ name, displayName, ...(endpoint && { endpoint }) },
    ...(await ensureClient(party, stored, root, clock())),
  };
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

/**
 * Returns the stored key and certificate of the party's client, or creates both. The client has its own key, so that
 * the client's machine does not need the party's signing key.
 */
async function ensureClient(
  { name, displayName }: DescribedParty,
  stored: StoredParty | undefined,
  root: Root,
  now: number,
): Promise<ClientIdentity> {
  const { clientCertificatePem, clientPrivateKeyPem } = stored ?? {};
  if (clientCertificatePem !== undefined && clientPrivateKeyPem !== undefined) {
    return { clientCertificatePem, clientPrivateKeyPem };
  }
  const { certificatePem, privateKeyPem } = await issueLeaf(root, displayName, now, { party: name });
  return { clientCertificatePem: certificatePem, clientPrivateKeyPem: privateKeyPem };
}
