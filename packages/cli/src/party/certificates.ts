/** `mex certificates`: a party's own, and those of its counterparties one by one. */
import { type Certificate, PREFERRED } from '@measurement-exchange/contract';
import type { Command } from 'commander';
import { inDays, release, revoke, stateOf } from '../admin/certificates.ts';
import { type CallOptions, group, remote } from '../admin/command.ts';
import { readCertificate } from '../keyFiles.ts';
import { hex } from '../keys/describe.ts';
import { certificateName, parsePartyName, partyName } from '../names.ts';
import { print, printFacts } from '../output.ts';
import {
  callerOf,
  type ListOptions,
  listCommand,
  nameBelow,
  pageSizeOf,
  showPages,
  showResource,
} from './command.ts';
import { shortTime } from './times.ts';

export function certificatesCommand(): Command {
  return group('certificates', 'your certificates, and those of others: list, get, create, revoke', [
    list(),
    get(),
    create(),
    revoke(),
    release().name('release-hold'),
  ]);
}

function list(): Command {
  return listCommand('list [party]', 'list your certificates, and how long each one lasts').action(
    async (party: string | undefined, options: ListOptions) => {
      const { client, principal } = await callerOf(options);
      const parent = partyName(party ?? principal).name;
      const listing = client.listCertificates({ parent, ...pageSizeOf(options) });
      await showPages(options, listing.pages(), (page) => page.certificates, {
        headings: ['NAME', 'STATE', 'EXPIRES IN', 'VALID FROM (UTC)', 'UNTIL (UTC)'],
        row: (c) => [c.name, stateOf(c), inDays(c), shortTime(c.notBefore), shortTime(c.notAfter)],
        none: `${parent} has none: mex certificates create certificate.pem registers one.`,
      });
    },
  );
}

function get(): Command {
  return remote('get <certificate>', 'show one, by its name; of a party the one it prefers').action(
    async (text: string, options: CallOptions) => {
      const name = parsePartyName(text) ? `${text}/certificates/${PREFERRED}` : text;
      const { client, principal } = await callerOf(options);
      const certificate = await client.getCertificate({
        name: certificateName(nameBelow(principal, 'certificates', name)),
      });
      showResource(options, certificate, describe);
    },
  );
}

function describe(certificate: Certificate): void {
  printFacts(certificate.name!, {
    state: stateOf(certificate),
    valid: `${shortTime(certificate.notBefore)} to ${shortTime(certificate.notAfter)} UTC`,
    'expires in': inDays(certificate) || undefined,
    'subject key': hex(certificate.subjectKeyIdentifier),
  });
}

function create(): Command {
  return remote('create <file>', 'register a certificate (PEM or DER) of yours; those you have stay').action(
    async (file: string, options: CallOptions) => {
      const x509Pem = await readCertificate(file);
      const { client, principal } = await callerOf(options);
      const parent = partyName(principal).name;
      const certificate = await client.createCertificate({ parent, body: { x509Pem } });
      showResource(options, certificate, (c) =>
        print(
          `${c.name} is registered; valid until ${shortTime(c.notAfter)} UTC. Sign with its key from now on.`,
        ),
      );
    },
  );
}
