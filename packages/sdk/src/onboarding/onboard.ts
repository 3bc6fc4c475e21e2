/** Registers a new party. A repeated call continues where the last one stopped, and replaces nothing. */
import {
  ExchangeError,
  type PartyState,
  type PrincipalInput,
  parsePartyName,
} from '@measurement-exchange/contract';
import type { ExchangeClient } from '../client/types.ts';
import { type PartyFile, publicKeyJson, signedKey } from './partyFile.ts';

export interface OnboardingOptions {
  /** The `iss` of the party's tokens. */
  issuer: string;
  /** The `sub` of the party's tokens. */
  subject: string;
  /** If true, the root in the party file becomes a trusted root, but only for the party's own certificates. */
  trustRoot?: boolean | undefined;
  /** The address at which other parties reach a duchy. Only duchies have an endpoint. */
  endpoint?: string | undefined;
}

/** One resource that onboarding sets up. `created` is false if it already existed. */
export interface OnboardingPiece {
  created: boolean;
  name?: string | undefined;
}

export interface Onboarding {
  party: OnboardingPiece & { state: PartyState };
  certificate: OnboardingPiece;
  trustedRoot?: OnboardingPiece;
  publicKey: OnboardingPiece;
  endpoint?: OnboardingPiece;
  principal: OnboardingPiece;
}

/**
 * Registers a party. The party's name, root, certificate, and public key come from a party file that `parsePartyFile`
 * returned. The endpoint and the principal come from the options. Call this only after the party has confirmed its
 * certificate's fingerprint over another channel.
 */
export async function onboard(
  client: ExchangeClient,
  file: PartyFile,
  options: OnboardingOptions,
): Promise<Onboarding> {
  const { endpoint } = options;
  const before = await client.getParty({ name: file.name }).catch(unless(/_NOT_FOUND$/));
  const key = before?.publicKey && publicKeyJson(before.publicKey);
  const sameKey = key?.message === file.publicKey.message && key.signature === file.publicKey.signature;
  // Stop before anything is written if another key is registered, so that an outdated file cannot restore an old key.
  if (key !== undefined && !sameKey) {
    throw new Error(
      `${file.name} is on board with another public key. To replace the key: ` +
        `mex admin certificates add ${file.name} certificate.pem, then mex admin parties update ${file.name} --public-key party.json`,
    );
  }
  const knownEndpoint = before && 'endpoint' in before ? before.endpoint : undefined;
  const sameEndpoint = endpoint !== undefined && URL.parse(endpoint)?.origin === knownEndpoint;
  if (endpoint !== undefined && knownEndpoint !== undefined && !sameEndpoint) {
    throw new Error(
      `${file.name} is on board with another endpoint, ${knownEndpoint}. To replace it: ` +
        `mex admin parties update ${file.name} --endpoint ${endpoint}`,
    );
  }
  if (options.trustRoot && file.rootPem === undefined) {
    throw new Error(
      `The party file of ${file.name} has no root to trust: leave out --trust-root, or ask the party for its root.`,
    );
  }
  if (before === undefined) {
    const { collection, id, idParameter } = parsePartyName(file.name)!;
    await client.createParty({ collection, [idParameter]: id, body: { displayName: file.displayName } });
  }
  // Register the root before the certificate: an exchange with the setting `checks: strict` rejects a certificate
  // without a trusted root.
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

async function certify(client: ExchangeClient, file: PartyFile): Promise<OnboardingPiece> {
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

async function trust(client: ExchangeClient, file: PartyFile): Promise<OnboardingPiece> {
  const body = { x509Pem: file.rootPem!, party: file.name };
  const root = await client.createTrustedRoot({ body }).catch(unless(/^TRUSTED_ROOT_ALREADY_EXISTS$/));
  return root === undefined ? { created: false } : { created: true, name: root.name };
}

async function bind(client: ExchangeClient, binding: PrincipalInput): Promise<OnboardingPiece> {
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
