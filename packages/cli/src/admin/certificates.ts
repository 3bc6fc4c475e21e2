import type { Command } from 'commander';
import { type CallOptions, group, remote, showList, showResource, WHOLE_LIST } from '../calls/command.ts';
import { findParty } from '../calls/party.ts';
import { connect } from '../connection/client.ts';
import { readCertificate } from '../files/keyFiles.ts';
import { inDays, release, revoke, stateOf } from '../party/certificates.ts';
import { shortTime } from '../terminal/times.ts';

export function certificatesCommand(): Command {
  return group('certificates', 'the certificates of parties (also with the token of the party itself)', [
    add(),
    list(),
    revoke(),
    release(),
  ]);
}

function add(): Command {
  return remote(
    'add <party> <certificate.pem>',
    'register a certificate (PEM or DER); those it has stay',
  ).action(async (party: string, file: string, options: CallOptions) => {
    const x509Pem = await readCertificate(file);
    const client = await connect(options);
    const parent = await findParty(client, party);
    const certificate = await client.createCertificate({ parent, body: { x509Pem } });
    showResource(options, certificate, (c) => `${c.name} is registered; valid until ${c.notAfter}.`);
  });
}

function list(): Command {
  return remote('list <party>', 'list its certificates, and how long each one lasts').action(
    async (party: string, options: CallOptions) => {
      const client = await connect(options);
      const parent = await findParty(client, party);
      await showList(options, 'certificates', client.listCertificates({ parent, ...WHOLE_LIST }), {
        headings: ['NAME', 'STATE', 'EXPIRES IN', 'VALID FROM (UTC)', 'UNTIL (UTC)'],
        row: (c) => [c.name, stateOf(c), inDays(c), shortTime(c.notBefore), shortTime(c.notAfter)],
        none: `${parent} has no certificate: mex admin certificates add ${parent} certificate.pem`,
      });
    },
  );
}
