import type { Certificate } from '@measurement-exchange/contract';
import type { ExchangeClient } from '@measurement-exchange/sdk';
import type { Command } from 'commander';
import { connect } from '../client.ts';
import { readCertificate } from '../keyFiles.ts';
import { certificateName, partyName } from '../names.ts';
import { type CallOptions, group, remote, show, showList, WHOLE_LIST } from './command.ts';

export function certificatesCommand(): Command {
  return group('certificates', 'the certificates of parties (also with the token of the party itself)', [
    add(),
    list(),
    revoke(),
    release(),
  ]);
}

export function addCertificate(client: ExchangeClient, party: string, x509Pem: string): Promise<Certificate> {
  return client.createCertificate({ parent: partyName(party).name, body: { x509Pem } });
}

function add(): Command {
  return remote(
    'add <party> <certificate.pem>',
    'register a certificate (PEM or DER); those it has stay',
  ).action(async (party: string, file: string, options: CallOptions) => {
    partyName(party);
    const pem = await readCertificate(file);
    const certificate = await addCertificate(await connect(options), party, pem);
    show(options, certificate, (c) => `${c.name} is registered; valid until ${c.notAfter}.`);
  });
}

function list(): Command {
  return remote('list <party>', 'list its certificates, and how long each one lasts').action(
    async (party: string, options: CallOptions) => {
      const parent = partyName(party).name;
      const client = await connect(options);
      await showList(options, 'certificates', client.listCertificates({ parent, ...WHOLE_LIST }), {
        headings: ['NAME', 'STATE', 'EXPIRES IN', 'NOT BEFORE', 'NOT AFTER'],
        row: (c) => [c.name, stateOf(c), inDays(c), c.notBefore, c.notAfter],
        none: `${party} has none: mex admin certificates add ${party} certificate.pem`,
      });
    },
  );
}

export function revoke(): Command {
  return remote(
    'revoke <certificate>',
    'revoke a certificate for good; open measurements that rest on it fail',
  )
    .option('--hold', 'put it on hold instead, which can be released')
    .action(async (name: string, options: CallOptions & { hold?: boolean }) => {
      const revocationState = options.hold ? 'HOLD' : 'REVOKED';
      const client = await connect(options);
      const certificate = await client.revokeCertificate({
        name: certificateName(name),
        body: { revocationState },
      });
      show(
        options,
        certificate,
        () =>
          `${name} is ${options.hold ? 'on hold' : 'revoked'}: nothing new may use it, and open measurements that rest on it are failing.`,
      );
    });
}

export function release(): Command {
  return remote(
    'release <certificate>',
    'release a hold; measurements that failed for it stay failed',
  ).action(async (name: string, options: CallOptions) => {
    const client = await connect(options);
    const certificate = await client.releaseCertificateHold({ name: certificateName(name) });
    show(options, certificate, () => `${name} may be used again.`);
  });
}

export function stateOf({ revocationState, notBefore, notAfter }: Certificate): string {
  if (revocationState !== undefined) return revocationState;
  const now = new Date().toISOString();
  if (now > notAfter) return 'EXPIRED';
  return now < notBefore ? 'NOT YET VALID' : 'VALID';
}

/** `expiresIn` is in seconds, `86400s`, and only there when it is within 30 days. */
export function inDays({ expiresIn }: Certificate): string {
  if (expiresIn === undefined) return '';
  const hours = Math.floor(Number.parseInt(expiresIn, 10) / 3600);
  return hours >= 48 ? `${Math.floor(hours / 24)} days` : `${hours} h`;
}
