/** `mex keys`: inspects and creates key files, without calling the exchange. */
import { rm, writeFile } from 'node:fs/promises';
import { toBase64 } from '@measurement-exchange/contract';
import { createEncryptionKeysets, type KeyTemplate, publicKeysetOf } from '@measurement-exchange/sdk';
import { Command, Option } from 'commander';
import { group } from '../calls/command.ts';
import { readBytes } from '../files/input.ts';
import { keysetBytes } from '../files/keyFiles.ts';
import { paint, print, printFacts, printJson, printJsonLine, visible } from '../terminal/output.ts';
import { type CertificateFacts, describeKeys, type KeyFacts, type KeysetFacts } from './describe.ts';

export function keysCommand(): Command {
  return group('keys', 'look into and make keys; nothing secret is printed, nothing leaves this machine', [
    inspect(),
    createKeyset(),
    publicKeyset(),
  ]);
}

function inspect(): Command {
  return new Command('inspect')
    .description('what is in a Tink keyset, a certificate or a private key (PEM or DER)')
    .argument('<file...>')
    .option('--json', 'print the facts as JSON, one object a line')
    .addHelpText(
      'after',
      `
Keys belong together when their fingerprints are equal: of a certificate and its private key the public key
fingerprint, of a private and its public keyset the fingerprint.

  mex keys inspect lakeside/*.pem lakeside/*.tink`,
    )
    .action(async (files: string[], options: { json?: boolean }) => {
      for (const file of files) {
        for (const facts of await describeFile(file)) {
          if (options.json) printJsonLine({ file, ...facts });
          else show(file, facts);
        }
      }
    });
}

const INSPECTED = 'a Tink keyset (binary or base64), a certificate or a private key (PEM or DER)';

async function describeFile(file: string): Promise<KeyFacts[]> {
  const bytes = await readBytes(file, INSPECTED);
  return describeKeys(bytes).catch((error: Error) => {
    throw new Error(`${file}: ${error.message.replace(/\.$/, '')}. Give ${INSPECTED}.`);
  });
}

function show(file: string, facts: KeyFacts): void {
  const title = `${file}: ${facts.kind}`;
  if (facts.kind === 'certificate') printFacts(title, certificateLines(facts));
  else if (facts.kind === 'private signing key') {
    printFacts(title, { key: facts.key, 'public key': facts.publicKeyFingerprint, secret: 'not printed' });
  } else printFacts(title, keysetLines(facts));
}

function certificateLines(facts: CertificateFacts): Record<string, string | undefined> {
  return {
    subject: visible(facts.subject),
    issuer: visible(facts.issuer),
    serial: facts.serialNumber,
    valid: `${facts.notBefore.slice(0, 16).replace('T', ' ')} to ${facts.notAfter.slice(0, 16).replace('T', ' ')} UTC${validity(facts)}`,
    key: facts.key,
    usages: facts.keyUsages?.join(', '),
    authority: facts.isCa ? 'yes: it may issue certificates' : 'no',
    'subject key': facts.subjectKeyIdentifier ?? 'no identifier: the exchange takes it only with one',
    'authority key': facts.authorityKeyIdentifier ?? 'no identifier',
    'public key': facts.publicKeyFingerprint,
    fingerprint: facts.fingerprint,
  };
}

function validity({ notBefore, notAfter }: CertificateFacts): string {
  const now = new Date().toISOString();
  if (now > notAfter) return paint('red', ' (expired)');
  if (now < notBefore) return paint('yellow', ' (not yet)');
  const days = Math.floor((Date.parse(notAfter) - Date.now()) / 86_400_000);
  return ` (${days} more days)`;
}

function keysetLines({ keys, fingerprint, kind }: KeysetFacts): Record<string, string> {
  const lines = keys.map(({ keyId, scheme, prefix, primary }) => [
    `key ${keyId}`,
    `${scheme}, prefix ${prefix}${primary ? ', primary' : ''}`,
  ]);
  return {
    ...Object.fromEntries(lines),
    fingerprint,
    ...(kind === 'private Tink keyset' && {
      secret: 'not printed; mex keys public prints the public keyset',
    }),
  };
}

const TEMPLATES: readonly KeyTemplate[] = [
  'ECIES_P256_HKDF_HMAC_SHA256_AES128_GCM',
  'DHKEM_X25519_HKDF_SHA256_HKDF_SHA256_AES_256_GCM',
];

function createKeyset(): Command {
  return new Command('create-keyset')
    .description('make a pair of Tink keysets for hybrid encryption')
    .requiredOption('--private <file>', 'a new file for the private keyset, readable by you alone')
    .requiredOption('--public <file>', 'a new file for the public keyset')
    .addOption(
      new Option('--template <name>', 'by the names of Tink').choices(TEMPLATES).default(TEMPLATES[0]),
    )
    .option('--json', 'print what was made as JSON')
    .addHelpText(
      'after',
      `
Both files are in base64, and are never overwritten. mex identity makes a whole identity with such a pair.

  mex keys create-keyset --private encryption-private.tink --public encryption-public.tink`,
    )
    .action(async (options: { private: string; public: string; template: KeyTemplate; json?: boolean }) => {
      const { privateKeyset, publicKeyset } = await createEncryptionKeysets(options.template);
      await writeNew(options.private, privateKeyset, 0o600);
      await writeNew(options.public, publicKeyset, 0o644).catch(async (error) => {
        await rm(options.private);
        throw error;
      });
      const [facts] = (await describeKeys(publicKeyset)) as [KeysetFacts];
      if (options.json) printJson({ private: options.private, public: options.public, ...facts });
      else {
        print(`${options.private} is secret; ${options.public} is for others to encrypt with.`);
        printFacts(options.public, keysetLines(facts));
      }
    });
}

function publicKeyset(): Command {
  return new Command('public')
    .description('print the public keyset of a private one, in base64')
    .argument('<file>')
    .option('--json', 'print it as JSON')
    .action(async (file: string, options: { json?: boolean }) => {
      const keyset = keysetBytes(await readBytes(file, 'a private Tink keyset'));
      let publicKeyset: string;
      try {
        publicKeyset = toBase64(publicKeysetOf(keyset));
      } catch (error) {
        throw new Error(`${file}: ${(error as Error).message}`);
      }
      if (options.json) printJson({ publicKeyset });
      else print(publicKeyset);
    });
}

async function writeNew(file: string, keyset: Uint8Array, mode: number): Promise<void> {
  await writeFile(file, `${toBase64(keyset)}\n`, { mode, flag: 'wx', flush: true }).catch(
    (error: NodeJS.ErrnoException) => {
      const why =
        error.code === 'EEXIST'
          ? 'is there already, and keys are never overwritten'
          : `cannot be written (${error.code})`;
      throw new Error(`${file} ${why}: give another file.`);
    },
  );
}
