/** Writes an identity folder, and tells the user what to do next. */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type SignedMessage, toBase64 } from '@measurement-exchange/contract';
import type { EncryptionKeysets } from '@measurement-exchange/sdk';
import { type PartyFile, publicKeyJson } from '@measurement-exchange/sdk/onboarding';
import { fingerprintOf } from '../files/partyFile.ts';
import { paint, print, printJson } from '../terminal/output.ts';

interface IdentityFiles {
  name: string;
  displayName: string;
  certificatePem: string;
  privateKeyPem: string;
  /** An imported identity can lack the root's private key, or the whole root. */
  root?: { certificatePem: string; privateKeyPem?: string };
  keysets: EncryptionKeysets;
  publicKey: SignedMessage;
}

export const FOLDER_HELP = `
The folder then holds
  party.json              to hand to the operator: name, certificates, signed encryption key; no secret
  signing-key.pem         secret: signs specifications and results
  certificate.pem         of the signing key
  root.pem, root-key.pem  the authority that issued it; the key is secret, and needed only for --renew: keep it offline
  encryption-private.tink secret: decrypts what others encrypt for the party (a Tink keyset in base64)
  encryption-public.tink  the keyset that others encrypt with`;

/** Throws unless the folder is new or empty, so that keys are never overwritten. */
export async function requireEmpty(directory: string): Promise<void> {
  const found = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new Error(`${directory} cannot be used (${error.code}): give another folder with --out.`);
  });
  if (found.length === 0) return;
  throw new Error(
    `${directory} is not empty, and keys are never overwritten: give another folder with --out.`,
  );
}

/** Writes an identity's files. Secret files get mode 0600. */
export async function writeIdentity(directory: string, identity: IdentityFiles): Promise<PartyFile> {
  const { name, displayName, certificatePem, root, keysets } = identity;
  const party: PartyFile = {
    name,
    displayName,
    certificatePem,
    ...(root && { rootPem: root.certificatePem }),
    publicKey: publicKeyJson(identity.publicKey),
  };
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const write = (file: string, text: string, mode: number) =>
    writeFile(join(directory, file), `${text.trimEnd()}\n`, { mode, flag: 'wx', flush: true });
  await write('signing-key.pem', identity.privateKeyPem, 0o600);
  await write('certificate.pem', certificatePem, 0o644);
  if (root) await write('root.pem', root.certificatePem, 0o644);
  if (root?.privateKeyPem) await write('root-key.pem', root.privateKeyPem, 0o600);
  await write('encryption-private.tink', toBase64(keysets.privateKeyset), 0o600);
  await write('encryption-public.tink', toBase64(keysets.publicKeyset), 0o644);
  await write('party.json', JSON.stringify(party, null, 2), 0o644);
  return party;
}

export function report(
  party: PartyFile,
  { out, json }: { out: string; json?: boolean },
  next = `Hand ${join(out, 'party.json')} to the operator of the exchange, and tell them the fingerprint over another channel.`,
): void {
  const fingerprint = fingerprintOf(party.certificatePem);
  if (json) {
    printJson({ name: party.name, directory: out, partyFile: join(out, 'party.json'), fingerprint });
    return;
  }
  print(`${paint('green', `The identity of ${party.name}`)} is in ${out}.

  Certificate   SHA-256 ${fingerprint}
  Secret        signing-key.pem, encryption-private.tink, root-key.pem (where there is one): for you alone

  ${next}`);
}
