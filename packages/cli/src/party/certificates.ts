/** `mex certificates`: manages the caller's certificates, and shows those of other parties. */
import { type Certificate, PREFERRED, parsePartyName } from '@measurement-exchange/contract';
import type { Command } from 'commander';
import * as calls from '../calls/caller.ts';
import { type CallOptions, group, remote, showResource } from '../calls/command.ts';
import { findParty } from '../calls/party.ts';
import { readCertificate } from '../files/keyFiles.ts';
import { certificateName, partyName } from '../files/names.ts';
import { hex } from '../keys/describe.ts';
import { printFacts } from '../terminal/output.ts';
import { shortTime } from '../terminal/times.ts';

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
  return calls
    .listCommand('list [party]', 'list your certificates, and how long each one lasts')
    .action(async (party: string | undefined, options: calls.ListOptions) => {
      const { client, principal } = await calls.callerOf(options);
      const parent = await findParty(client, party ?? principal);
      const listing = client.listCertificates({ parent, ...calls.pageSizeOf(options) });
      await calls.showPages(options, listing.pages(), (page) => page.certificates, {
        headings: ['NAME', 'STATE', 'EXPIRES IN', 'VALID FROM (UTC)', 'UNTIL (UTC)'],
        row: (c) => [c.name, stateOf(c), inDays(c), shortTime(c.notBefore), shortTime(c.notAfter)],
        none: `${parent} has no certificate: mex certificates create certificate.pem registers one.`,
      });
    });
}

function get(): Command {
  return calls.ownCommand(
    'get <certificate>',
    'show one by its name or ID; by the name of a party the one that it prefers',
    'certificates',
    async ({ client, name: given }, options) => {
      const name = parsePartyName(given) ? `${given}/certificates/${PREFERRED}` : given;
      showResource(options, await client.getCertificate({ name: certificateName(name) }), describe);
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
      const { client, principal } = await calls.callerOf(options);
      const parent = partyName(principal).name;
      const certificate = await client.createCertificate({ parent, body: { x509Pem } });
      showResource(
        options,
        certificate,
        (c) =>
          `${c.name} is registered; valid until ${shortTime(c.notAfter)} UTC. Sign with its key from now on.`,
      );
    },
  );
}

export function revoke(): Command {
  return calls
    .ownCommand(
      'revoke <certificate>',
      'revoke a certificate for good; open measurements that depend on it fail',
      'certificates',
      async ({ client, name }, options: CallOptions & { hold?: boolean }) => {
        const revocationState = options.hold ? 'HOLD' : 'REVOKED';
        const revoked = await client.revokeCertificate({
          name: certificateName(name),
          body: { revocationState },
        });
        showResource(
          options,
          revoked,
          () =>
            `${name} is ${options.hold ? 'on hold' : 'revoked'}: nothing new may use it, and open measurements that depend on it are failing.`,
        );
      },
    )
    .option('--hold', 'put it on hold instead, which can be released');
}

export function release(): Command {
  return calls.ownCommand(
    'release <certificate>',
    'release a hold; measurements that failed for it stay failed',
    'certificates',
    async ({ client, name }, options) =>
      showResource(
        options,
        await client.releaseCertificateHold({ name: certificateName(name) }),
        () => `${name} may be used again.`,
      ),
  );
}

export function stateOf({ revocationState, notBefore, notAfter }: Certificate): string {
  if (revocationState !== undefined) return revocationState;
  const now = new Date().toISOString();
  if (now > notAfter) return 'EXPIRED';
  return now < notBefore ? 'NOT YET VALID' : 'VALID';
}

/**
 * Formats the time until the certificate expires. `expiresIn` is in seconds, such as `86400s`, and is set only in the
 * certificate's last 30 days.
 */
export function inDays({ expiresIn }: Certificate): string {
  if (expiresIn === undefined) return '';
  const hours = Math.floor(Number.parseInt(expiresIn, 10) / 3600);
  return hours >= 48 ? `${Math.floor(hours / 24)} days` : `${hours} h`;
}
