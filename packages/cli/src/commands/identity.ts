import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fromBase64, toBase64 } from '@measurement-exchange/contract';
import { createIdentity, type Identity } from '@measurement-exchange/sdk/identity';
import { Command } from 'commander';
import { partyName } from '../names.ts';
import { paint, print, printJson } from '../output.ts';
import { fingerprintOf, type PartyFile, publicKeyJson, readPartyFile } from '../partyFile.ts';

interface Options {
  out: string;
  displayName?: string;
  days: number;
  renew?: string;
  newEncryptionKey?: boolean;
  json?: boolean;
}

export function identityCommand(): Command {
  return new Command('identity')
    .description('make the keys and certificates of a party (run by the party; nothing leaves this machine)')
    .argument(
      '<party>',
      'its name, as agreed with the operator: dataProviders/…, measurementConsumers/… or duchies/…',
    )
    .requiredOption('--out <dir>', 'a new folder for the keys')
    .option('--display-name <text>', 'the name people know it by')
    .option('--days <days>', 'how long the certificate is valid', Number, 365)
    .option('--renew <dir>', 'keep the root and the encryption key of this earlier folder, renew the rest')
    .option('--new-encryption-key', 'with --renew: make a new encryption key too')
    .option('--json', 'print what was made as JSON')
    .addHelpText(
      'after',
      `
The folder then holds
  party.json              to hand to the operator: name, certificates, signed encryption key; no secret
  signing-key.pem         secret: signs specifications and results
  certificate.pem         of the signing key
  root.pem, root-key.pem  the authority that issued it; the key is secret, and needed only for --renew: keep it offline
  encryption-private.tink secret: decrypts what others encrypt for the party (a Tink keyset in base64)
  encryption-public.tink  the keyset that others encrypt with

  mex identity dataProviders/lakeside --display-name 'Lakeside Radio' --out lakeside
  mex identity dataProviders/lakeside --renew lakeside --out lakeside-2027`,
    )
    .action(async (name: string, options: Options) => {
      partyName(name);
      if (!(options.days > 0 && options.days <= 3650)) throw new Error('--days must be 1 to 3650.');
      await requireEmpty(options.out);
      const earlier = options.renew === undefined ? undefined : await readEarlier(options.renew, name);
      const displayName = options.displayName ?? earlier?.displayName ?? '';
      const identity = await createIdentity({
        commonName: displayName || name,
        now: Date.now(),
        days: options.days,
        ...(earlier && { root: earlier.root }),
        ...(earlier && !options.newEncryptionKey && { keysets: earlier.keysets }),
      });
      const party: PartyFile = {
        name,
        displayName,
        certificatePem: identity.certificatePem,
        rootPem: identity.root.certificatePem,
        publicKey: publicKeyJson(identity.publicKey),
      };
      await writeIdentity(options.out, party, identity);
      report(party, options);
    });
}

async function requireEmpty(directory: string): Promise<void> {
  const found = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new Error(`${directory} cannot be used (${error.code}): give another folder with --out.`);
  });
  if (found.length === 0) return;
  throw new Error(
    `${directory} is not empty, and keys are never overwritten: give another folder with --out.`,
  );
}

async function writeIdentity(directory: string, party: PartyFile, identity: Identity): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const write = (file: string, text: string, mode: number) =>
    writeFile(join(directory, file), `${text.trimEnd()}\n`, { mode, flag: 'wx', flush: true });
  await write('signing-key.pem', identity.privateKeyPem, 0o600);
  await write('certificate.pem', identity.certificatePem, 0o644);
  await write('root.pem', identity.root.certificatePem, 0o644);
  await write('root-key.pem', identity.root.privateKeyPem, 0o600);
  await write('encryption-private.tink', toBase64(identity.keysets.privateKeyset), 0o600);
  await write('encryption-public.tink', toBase64(identity.keysets.publicKeyset), 0o644);
  await write('party.json', JSON.stringify(party, null, 2), 0o644);
}

async function readEarlier(directory: string, name: string) {
  const party = await readPartyFile(join(directory, 'party.json'));
  if (party.name !== name) throw new Error(`${directory} is the identity of ${party.name}, not of ${name}.`);
  const read = (file: string) =>
    readFile(join(directory, file), 'utf8').catch((error: NodeJS.ErrnoException) => {
      throw new Error(`${join(directory, file)} cannot be read (${error.code}), and --renew needs it.`);
    });
  const keyset = async (file: string) => fromBase64((await read(file)).trim())!;
  return {
    displayName: party.displayName,
    root: { certificatePem: await read('root.pem'), privateKeyPem: await read('root-key.pem') },
    keysets: {
      publicKeyset: await keyset('encryption-public.tink'),
      privateKeyset: await keyset('encryption-private.tink'),
    },
  };
}

function report(party: PartyFile, options: Options): void {
  const fingerprint = fingerprintOf(party.certificatePem);
  const partyFile = join(options.out, 'party.json');
  if (options.json) {
    printJson({ name: party.name, directory: options.out, partyFile, fingerprint });
    return;
  }
  const next =
    options.renew === undefined
      ? `Hand ${partyFile} to the operator of the exchange, and tell them the fingerprint over another channel.`
      : `Register it with your own token: mex admin certificates add ${party.name} ${join(options.out, 'certificate.pem')}
  then: mex admin parties update ${party.name} --public-key ${partyFile}`;
  print(`${paint('green', `The identity of ${party.name}`)} is in ${options.out}.

  Certificate   SHA-256 ${fingerprint}
  Secret        signing-key.pem, encryption-private.tink, root-key.pem: for you alone

  ${next}`);
}
