/** `mex identity create`: creates a party's keys and certificates. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fromBase64 } from '@measurement-exchange/contract';
import { createIdentity } from '@measurement-exchange/sdk/identity';
import { Command } from 'commander';
import { partyName } from '../files/names.ts';
import { readPartyFile } from '../files/partyFile.ts';
import { FOLDER_HELP, report, requireEmpty, writeIdentity } from './folder.ts';

interface Options {
  out: string;
  displayName?: string;
  days: number;
  renew?: string;
  newEncryptionKey?: boolean;
  json?: boolean;
}

export function createCommand(): Command {
  return new Command('create')
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
      `${FOLDER_HELP}

  mex identity create dataProviders/lakeside --display-name 'Lakeside Radio' --out lakeside
  mex identity create dataProviders/lakeside --renew lakeside --out lakeside-2027`,
    )
    .action(create);
}

async function create(name: string, options: Options): Promise<void> {
  partyName(name);
  if (!(options.days > 0 && options.days <= 3650)) throw new Error('--days must be 1 to 3650.');
  await requireEmpty(options.out);
  const earlier = options.renew === undefined ? undefined : await readEarlier(options.renew, name);
  const displayName = options.displayName ?? earlier?.displayName ?? '';
  const identity = await createIdentity({
    party: name,
    commonName: displayName || name,
    now: Date.now(),
    days: options.days,
    ...(earlier && { root: earlier.root }),
    ...(earlier && !options.newEncryptionKey && { keysets: earlier.keysets }),
  });
  const party = await writeIdentity(options.out, { name, displayName, ...identity });
  report(party, options, earlier && afterRenewal(name, options.out));
}

function afterRenewal(name: string, directory: string): string {
  return `Register it with your own token: mex admin certificates add ${name} ${join(directory, 'certificate.pem')}
  then: mex admin parties update ${name} --public-key ${join(directory, 'party.json')}`;
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
