/** `mex admin onboard`: registers a new party with a single command, which can safely be run again. */
import {
  isFingerprint,
  isSameFingerprint,
  type Onboarding,
  type OnboardingPiece,
  onboard,
  type PartyFile,
} from '@measurement-exchange/sdk/onboarding';
import type { Command } from 'commander';
import { type CallOptions, remote } from '../calls/command.ts';
import { connect } from '../connection/client.ts';
import { fingerprintOf, readPartyFile } from '../files/partyFile.ts';
import { paint, print, printJson, visible } from '../terminal/output.ts';
import { ENDPOINT } from './parties.ts';

interface Options extends CallOptions {
  issuer: string;
  subject: string;
  fingerprint: string;
  trustRoot?: boolean;
  endpoint?: string;
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
 * Throws unless the certificate has the fingerprint `told`. The party gave this fingerprint to the operator separately
 * from the file. `readPartyFile` has already checked that the public key and the root match the certificate.
 */
function requireFingerprint(path: string, { certificatePem }: PartyFile, told: string): void {
  if (!isFingerprint(told)) {
    throw new Error(
      '--fingerprint must be the SHA-256 fingerprint that mex identity printed: 64 hexadecimal digits.',
    );
  }
  const found = fingerprintOf(certificatePem);
  if (isSameFingerprint(found, told)) return;
  throw new Error(
    `${path} has a certificate with another fingerprint, ${found}: nothing was registered. ` +
      'Somebody may have replaced the file: ask the party for both again, each over another channel.',
  );
}

function describe(
  file: PartyFile,
  fingerprint: string,
  result: Onboarding,
  { issuer, subject }: Options,
): string {
  const line = (what: string, { created }: OnboardingPiece, rest = '') =>
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
