/** `mex identity import`: creates an identity folder from existing keys and certificates. */
import { createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import {
  createTrustStore,
  decrypt,
  type EncryptionKeysets,
  encrypt,
  publicKeysetOf,
  readPrivateKeyset,
} from '@measurement-exchange/sdk';
import { signEncryptionKey } from '@measurement-exchange/sdk/identity';
import { Command } from 'commander';
import { readBytes } from '../files/input.ts';
import { blocksIn, isPrivateKey, keysetBytes, privateKeyOf, readCertificate } from '../files/keyFiles.ts';
import { partyName } from '../files/names.ts';
import { note, visible } from '../terminal/output.ts';
import { FOLDER_HELP, report, requireEmpty, writeIdentity } from './folder.ts';

interface Options {
  out: string;
  displayName?: string;
  signingKey: string;
  certificate: string;
  root?: string;
  encryptionPrivate: string;
  encryptionPublic?: string;
  json?: boolean;
}

export function importCommand(): Command {
  return new Command('import')
    .description('make the folder of a party from keys and certificates it has already')
    .argument(
      '<party>',
      'its name, as agreed with the operator: dataProviders/…, measurementConsumers/… or duchies/…',
    )
    .requiredOption('--out <dir>', 'a new folder for the keys')
    .requiredOption(
      '--signing-key <file>',
      'the private key of the certificate, not encrypted: PEM or DER (PKCS #8, SEC 1 or PKCS #1)',
    )
    .requiredOption('--certificate <file>', 'the certificate: PEM or DER')
    .requiredOption('--encryption-private <file>', 'the private Tink keyset: binary or base64')
    .option('--encryption-public <file>', 'the public Tink keyset (else made from the private one)')
    .option('--root <file>', 'the root certificate that issued the certificate: PEM or DER')
    .option('--display-name <text>', 'the name people know it by', '')
    .option('--json', 'print what was made as JSON')
    .addHelpText(
      'after',
      `${FOLDER_HELP}
It has no root-key.pem, and root.pem only with --root. The command checks first that the files belong together.

  mex identity import dataProviders/lakeside --out lakeside --signing-key lakeside.key --certificate lakeside.der \\
      --root lakeside-root.der --encryption-private lakeside-private.tink`,
    )
    .action(importIdentity);
}

async function importIdentity(name: string, options: Options): Promise<void> {
  partyName(name);
  await requireEmpty(options.out);
  const certificatePem = await readCertificate(options.certificate);
  const privateKeyPem = await readSigningKey(options, certificatePem);
  const root = options.root === undefined ? undefined : await readRoot(options, certificatePem);
  const keysets = await readKeysets(options);
  const publicKey = await signEncryptionKey(keysets.publicKeyset, privateKeyPem).catch((error) => {
    throw new Error(`${options.signingKey}: ${error.message}`);
  });
  const identity = { displayName: options.displayName ?? '', certificatePem, privateKeyPem, root, keysets };
  const party = await writeIdentity(options.out, { name, publicKey, ...identity });
  report(party, options);
  if (root) await warnIfUntrusted(name, certificatePem, root.certificatePem);
}

async function readSigningKey(
  { signingKey: path, certificate }: Options,
  certificatePem: string,
): Promise<string> {
  const key = await readPrivateKey(path);
  if (!new X509Certificate(certificatePem).publicKey.equals(createPublicKey(key))) {
    throw new Error(
      `${path} is not the key of ${certificate}: mex keys inspect shows which keys belong together.`,
    );
  }
  return key.export({ type: 'pkcs8', format: 'pem' }) as string;
}

async function readPrivateKey(path: string): Promise<KeyObject> {
  const expected = 'a private key in PEM or DER that is not encrypted';
  const bytes = await readBytes(path, expected);
  try {
    const keys = (blocksIn(bytes) ?? []).filter(isPrivateKey);
    if (keys.length !== 1) throw new Error(`it holds ${keys.length} private keys instead of one`);
    return privateKeyOf(keys[0]!);
  } catch (error) {
    throw new Error(`${path}: ${(error as Error).message}. Give ${expected}.`);
  }
}

async function readRoot(
  { root: path, certificate }: Options,
  certificatePem: string,
): Promise<{ certificatePem: string }> {
  const pem = await readCertificate(path!);
  const [leaf, root] = [new X509Certificate(certificatePem), new X509Certificate(pem)];
  if (leaf.checkIssued(root) && leaf.verify(root.publicKey)) return { certificatePem: pem };
  throw new Error(`${path} did not issue ${certificate}: give the root certificate that did.`);
}

/**
 * Reads the keysets, and checks that the private keyset decrypts what the public keyset encrypts. The public keyset's
 * bytes stay unchanged, because the party may already have published them.
 */
async function readKeysets({ encryptionPrivate, encryptionPublic }: Options): Promise<EncryptionKeysets> {
  const privateKeyset = keysetBytes(await readBytes(encryptionPrivate, 'a private Tink keyset'));
  await readPrivateKeyset(privateKeyset).catch((error) => {
    throw new Error(`${encryptionPrivate}: ${error.message}`);
  });
  if (encryptionPublic === undefined) return { privateKeyset, publicKeyset: publicKeysetOf(privateKeyset) };
  const publicKeyset = keysetBytes(await readBytes(encryptionPublic, 'a public Tink keyset'));
  const ciphertext = await encrypt(publicKeyset, new Uint8Array(1)).catch((error) => {
    throw new Error(`${encryptionPublic}: ${error.message}`);
  });
  await decrypt(privateKeyset, ciphertext).catch(() => {
    throw new Error(`${encryptionPrivate} does not decrypt what ${encryptionPublic} encrypts: give a pair.`);
  });
  return { privateKeyset, publicKeyset };
}

async function warnIfUntrusted(name: string, certificatePem: string, rootPem: string): Promise<void> {
  try {
    const { raw } = new X509Certificate(certificatePem);
    await createTrustStore([{ party: name, pem: rootPem }]).verify(name, raw, new Date());
  } catch (error) {
    note(`Warning: other parties will not trust this certificate. ${visible((error as Error).message)}`);
  }
}
