/** `mex admin onboard`: registers a new party with a single command, which can safely be run again. */
import type { PrincipalInput } from '@measurement-exchange/contract';
import { type ExchangeClient, ExchangeError } from '@measurement-exchange/sdk';
import type { Command } from 'commander';
import { type CallOptions, remote } from '../calls/command.ts';
import { connect } from '../connection/client.ts';
import { fingerprintOf, type PartyFile, publicKeyJson, readPartyFile } from '../files/partyFile.ts';
import { paint, print, printJson, visible } from '../terminal/output.ts';
import { createParty, ENDPOINT, type Party, signedKey } from './parties.ts';

interface Options extends CallOptions {
  issuer: string;
  subject: string;
  fingerprint: string;
  trustRoot?: boolean;
  endpoint?: string;
}

/** One resource that onboarding sets up. `created` is false if it already existed. */
interface Piece {
  created: boolean;
  name?: string | undefined;
}

interface Onboarding {
  party: Piece & { state: Party['state'] };
  certificate: Piece;
  trustedRoot?: Piece;
  publicKey: Piece;
  endpoint?: Piece;
  principal: Piece;
}

export function onboardCommand(): Command {
  return remote(
    'onboard <party.json>',
    'let a new party in: party, certificate, public key and principal in one go',
  )
    .requiredOption('--issuer <url>', 'the `iss` of its tokens, to the letter')
    .requiredOption('--subject <sub>', 'the `sub` of its tokens')
    .requiredOption(
      '--fingerprint <sha256>',
      'of its certificate, as the party told you over another channel',
    )
    .option('--trust-root', 'also trust its root, for its own certificates only')
    .option(...ENDPOINT)
    .addHelpText(
      'after',
      `
The party made party.json with mex identity, which printed the fingerprint of its certificate. Ask the party for it
over another channel than the file came by, such as the telephone: if the file has another one, nothing is registered.
Nothing is replaced: it reports what exists already, and fails where something differs. After a failure run it again:
it continues where it stopped.

  mex admin onboard party.json --fingerprint 9F:86:D0:… \\
    --issuer https://id.example.com --subject lakeside-machine --trust-root`,
    )
    .action(async (path: string, options: Options) => {
      const file = await readPartyFile(path);
      requireFingerprint(path, file, options.fingerprint);
      if (options.trustRoot && file.rootPem === undefined) {
        throw new Error(
          `${path} has no root to trust: leave out --trust-root, or ask the party for its root.`,
        );
      }
      if (options.endpoint !== undefined && !file.name.startsWith('duchies/')) {
        throw new Error(`--endpoint is for duchies, and ${file.name} is not a duchy: leave it out.`);
      }
      const result = await onboard(await connect(options), file, options);
      const fingerprint = fingerprintOf(file.certificatePem);
      if (options.json) printJson({ name: file.name, fingerprint, ...result });
      else print(describe(file, fingerprint, result, options));
    });
}

/**
 * Throws unless the certificate has the fingerprint `told`. `readPartyFile` has already checked the public key and the root
 * against the certificate.
 */
function requireFingerprint(path: string, { certificatePem }: PartyFile, told: string): void {
  const digits = (fingerprint: string) => fingerprint.replace(/[:\s]/g, '').toUpperCase();
  if (!/^[0-9A-F]{64}$/.test(digits(told))) {
    throw new Error(
      '--fingerprint must be the SHA-256 fingerprint that mex identity printed: 64 hexadecimal digits.',
    );
  }
  const found = fingerprintOf(certificatePem);
  if (digits(found) === digits(told)) return;
  throw new Error(
    `${path} has a certificate with another fingerprint, ${found}: nothing was registered. ` +
      'Somebody may have replaced the file: ask the party for both again, each over another channel.',
  );
}

async function onboard(client: ExchangeClient, file: PartyFile, options: Options): Promise<Onboarding> {
  const before = await client.getParty({ name: file.name }).catch(unless(/_NOT_FOUND$/));
  const key = before?.publicKey && publicKeyJson(before.publicKey);
  const sameKey = key?.message === file.publicKey.message && key.signature === file.publicKey.signature;
  // Stop before anything is written if the key differs, so that an outdated file cannot restore an old key.
  if (key !== undefined && !sameKey) {
    throw new Error(
      `${file.name} is on board with another public key. To replace the key: ` +
        `mex admin certificates add ${file.name} certificate.pem, then mex admin parties update ${file.name} --public-key party.json`,
    );
  }
  const { endpoint } = options;
  const knownEndpoint = before && 'endpoint' in before ? before.endpoint : undefined;
  const sameEndpoint = endpoint !== undefined && URL.parse(endpoint)?.origin === knownEndpoint;
  if (endpoint !== undefined && knownEndpoint !== undefined && !sameEndpoint) {
    throw new Error(
      `${file.name} is on board with another endpoint, ${knownEndpoint}. To replace it: ` +
        `mex admin parties update ${file.name} --endpoint ${endpoint}`,
    );
  }
  if (before === undefined) await createParty(client, file.name, { displayName: file.displayName });
  // Register the root before the certificate: an exchange with the setting `checks: strict` rejects a certificate without a
  // trusted root.
  const trustedRoot = options.trustRoot ? await trust(client, file) : undefined;
  const certificate = await certify(client, file);
  if (!sameKey) await client.updateParty({ name: file.name, body: { publicKey: signedKey(file) } });
  if (endpoint !== undefined && !sameEndpoint) {
    await client.updateParty({ name: file.name, body: { endpoint } });
  }
  return {
    party: { created: before === undefined, name: file.name, state: before?.state ?? 'ACTIVE' },
    certificate,
    ...(trustedRoot && { trustedRoot }),
    publicKey: { created: !sameKey },
    ...(endpoint !== undefined && { endpoint: { created: !sameEndpoint, name: endpoint } }),
    principal: await bind(client, { issuer: options.issuer, subject: options.subject, resource: file.name }),
  };
}

async function certify(client: ExchangeClient, file: PartyFile): Promise<Piece> {
  try {
    const { name } = await client.createCertificate({
      parent: file.name,
      body: { x509Pem: file.certificatePem },
    });
    return { created: true, name };
  } catch (error) {
    const existing = error instanceof ExchangeError ? error.metadata.existing : undefined;
    if (existing === undefined) throw error;
    const { name, revocationState } = await client.getCertificate({ name: existing });
    if (revocationState === undefined) return { created: false, name };
    const state = revocationState === 'HOLD' ? 'on hold' : 'revoked';
    throw new Error(
      `${name} is ${state}: release it, or let the party make a new one (mex identity --renew).`,
    );
  }
}

async function trust(client: ExchangeClient, file: PartyFile): Promise<Piece> {
  const body = { x509Pem: file.rootPem!, party: file.name };
  const root = await client.createTrustedRoot({ body }).catch(unless(/^TRUSTED_ROOT_ALREADY_EXISTS$/));
  return root === undefined ? { created: false } : { created: true, name: root.name };
}

async function bind(client: ExchangeClient, binding: PrincipalInput): Promise<Piece> {
  try {
    const { name } = await client.createPrincipal({ body: binding });
    return { created: true, name };
  } catch (error) {
    if (!(error instanceof ExchangeError) || error.reason !== 'PRINCIPAL_ALREADY_EXISTS') throw error;
    const { existing = '', resource } = error.metadata;
    if (resource === binding.resource) return { created: false, name: existing };
    throw new Error(
      `${binding.subject} of ${binding.issuer} speaks for ${resource}. Give ${binding.resource} a subject of its own, ` +
        `or unbind that one first: mex admin principals unbind ${existing}`,
    );
  }
}

function unless(reason: RegExp) {
  return (error: unknown): undefined => {
    if (!(error instanceof ExchangeError) || !reason.test(error.reason)) throw error;
  };
}

function describe(
  file: PartyFile,
  fingerprint: string,
  result: Onboarding,
  { issuer, subject }: Options,
): string {
  const line = (what: string, { created }: Piece, rest = '') =>
    `  ${what.padEnd(12)}${(created ? 'done' : 'already there').padEnd(15)}${rest}`.trimEnd();
  return [
    paint('green', `${file.name} is on board.`),
    ...(result.party.state === 'ACTIVE' ? [] : [`  It is suspended: mex admin parties resume ${file.name}`]),
    line('party', result.party, visible(file.displayName)),
    line('certificate', result.certificate, result.certificate.name),
    `${' '.repeat(29)}SHA-256 ${fingerprint}`,
    ...(result.trustedRoot ? [line('root', result.trustedRoot, result.trustedRoot.name)] : []),
    line('public key', result.publicKey),
    ...(result.endpoint ? [line('endpoint', result.endpoint, result.endpoint.name)] : []),
    line('principal', result.principal, `${subject} of ${issuer}`),
  ].join('\n');
}
