import type { Command } from 'commander';
import { type CallOptions, group, remote, showList, showResource, WHOLE_LIST } from '../calls/command.ts';
import { findParty } from '../calls/party.ts';
import { connect } from '../connection/client.ts';
import { readCertificate } from '../files/keyFiles.ts';
import { nameIn } from '../files/names.ts';

export function rootsCommand(): Command {
  return group('roots', 'root certificates that the certificates of parties must chain to', [
    add(),
    list(),
    remove(),
  ]);
}

function add(): Command {
  return remote('add <root.pem>', 'trust a root certificate (PEM or DER)')
    .option('--party <name>', 'for the certificates of this party only')
    .action(async (file: string, options: CallOptions & { party?: string }) => {
      const x509Pem = await readCertificate(file);
      const client = await connect(options);
      const party = options.party && (await findParty(client, options.party));
      const root = await client.createTrustedRoot({ body: { x509Pem, ...(party && { party }) } });
      showResource(
        options,
        root,
        () => `${root.name} is trusted for ${root.party ?? 'every party'}, until ${root.notAfter}.`,
      );
    });
}

function list(): Command {
  return remote('list', 'list the trusted roots').action(async (options: CallOptions) => {
    const client = await connect(options);
    await showList(options, 'trustedRoots', client.listTrustedRoots(WHOLE_LIST), {
      headings: ['NAME', 'FOR', 'NOT AFTER'],
      row: (root) => [root.name, root.party ?? 'every party', root.notAfter],
      none: 'No root is trusted: mex admin roots add root.pem',
    });
  });
}

function remove(): Command {
  return remote('remove <root>', 'stop trusting a root, by its name trustedRoots/…').action(
    async (name: string, options: CallOptions) => {
      const client = await connect(options);
      const root = await client.deleteTrustedRoot({ name: nameIn('trustedRoots', name) });
      showResource(
        options,
        root,
        () => `${root.name} is no longer trusted for ${root.party ?? 'every party'}.`,
      );
    },
  );
}
