/** Loads a party's credentials: its keys, the roots that it trusts, and a client for the exchange. */
import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { fromBase64 } from '@measurement-exchange/contract';
import {
  type Credentials,
  type ExchangeClient,
  readCredentials,
  type TrustedRoot,
} from '@measurement-exchange/sdk';
import { findDevParty, readOwnDevFile } from '../files/devFile.ts';
import { readPartyFile } from '../files/partyFile.ts';
import { chosenProfile } from '../signIn/profiles.ts';
import { type ClientOptions, connect, warn } from './client.ts';
import {
  createDemoTrustStore,
  createRereadTrustStore,
  type ListedTrustStore,
  readDevRoots,
  readRoots,
} from './roots.ts';
import { readText } from './token.ts';

interface CredentialOptions extends ClientOptions {
  identity?: string;
  /**
   * Files or folders with trusted roots, in PEM or DER. If a prefix names a party, as in `duchies/one=one.pem`, the
   * root is trusted for this party only. A root for a duchy also makes the caller accept this duchy in computations.
   */
  roots?: string[];
}

export interface Acting {
  credentials: Credentials;
  /** The folder of the keys. Absent for a demo party. */
  identity?: string;
  trust: ListedTrustStore;
  /** The duchies that the party accepts in computations. */
  duchies: string[];
  client: ExchangeClient;
}

/**
 * Loads the demo party `as` or the party in the `identity` folder. If `as` is not given, the other missing options come
 * from the chosen profile.
 */
export async function loadCredentials(given: CredentialOptions): Promise<Acting> {
  const options = await withProfile(given);
  const { as, identity, roots = [] } = options;
  if ((as === undefined) === (identity === undefined)) {
    throw new Error(
      'Say who you are: --identity with a folder that mex identity made (or a profile that has one: mex profile set), ' +
        'or in development --as with a demo party.',
    );
  }
  const { roots: trusted, problems } = await readRoots(roots);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  const { onWarning = warn } = options;
  if (as !== undefined) {
    const dev = await readOwnDevFile();
    return {
      credentials: readCredentials(findDevParty(dev, as)),
      trust: createDemoTrustStore(dev.rootCertificatePem, roots, onWarning),
      duchies: [
        ...dev.duchies.map(({ name }) => name),
        ...duchiesOf([...trusted, ...(await readDevRoots())]),
      ],
      client: await connect(options),
    };
  }
  if (roots.length === 0) {
    throw new Error('Say whose certificates you trust: --root with the PEM file of a root, once for each.');
  }
  const client = await connect(options);
  const credentials = await readIdentity(identity!, client);
  const trust = createRereadTrustStore(async () => roots, { onProblem: onWarning });
  return { credentials, identity: identity!, trust, duchies: duchiesOf(trusted), client };
}

function duchiesOf(roots: TrustedRoot[]): string[] {
  return roots.flatMap(({ party }) => (party?.startsWith('duchies/') ? [party] : []));
}

async function withProfile(options: CredentialOptions): Promise<CredentialOptions> {
  const { as, identity, roots } = (options.as === undefined ? await chosenProfile() : undefined) ?? {};
  const isGiven = options.as !== undefined || options.identity !== undefined;
  return {
    ...(roots && { roots }),
    ...(!isGiven && as && { as }),
    ...(!isGiven && identity && { identity }),
    ...options,
  };
}

/** Reads the encryption keys from an identity folder. By default, renewing the certificate does not change them. */
export async function readEncryptionKeys(
  directory: string,
): Promise<Pick<Credentials, 'encryptionPublicKey' | 'encryptionPrivateKey'>> {
  const keyset = async (file: string) => {
    const bytes = fromBase64((await readText(join(directory, file))).trim());
    if (bytes === undefined)
      throw new Error(`${join(directory, file)} is not the base64 that mex identity wrote.`);
    return bytes;
  };
  return {
    encryptionPublicKey: await keyset('encryption-public.tink'),
    encryptionPrivateKey: await keyset('encryption-private.tink'),
  };
}

async function readIdentity(directory: string, client: ExchangeClient): Promise<Credentials> {
  const party = await readPartyFile(join(directory, 'party.json'));
  return {
    name: party.name,
    certificate: await registeredName(party, client),
    privateKeyPem: await readText(join(directory, 'signing-key.pem')),
    ...(await readEncryptionKeys(directory)),
  };
}

/**
 * Returns the resource name that the exchange assigned to the party's certificate. Throws if the certificate is not
 * registered.
 */
async function registeredName(
  party: { name: string; certificatePem: string },
  client: ExchangeClient,
): Promise<string> {
  const own = new X509Certificate(party.certificatePem).raw;
  for await (const { name, x509Der } of client.listCertificates({ parent: party.name })) {
    if (own.equals(x509Der)) return name!;
  }
  throw new Error(
    `The certificate of ${party.name} is not registered at the exchange: ` +
      'mex admin onboard party.json (its operator), or mex admin certificates add (after a renewal).',
  );
}
