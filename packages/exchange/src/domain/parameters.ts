/** Reads, checks, and stores the keys that each duchy must set before requisitions can be fulfilled. */
import { ConsentError, unpackElGamalPublicKey } from '@measurement-exchange/consent';
import {
  equalBytes,
  invalid,
  PROTOCOLS,
  type Protocol,
  type SetParametersRequest,
  type SignedMessage,
  type Timestamp,
} from '@measurement-exchange/contract';
import {
  type Change,
  ChangeBuilder,
  type DuchyParameters,
  type Outline,
  type ParticipantRecord,
} from './aggregate.ts';
import { type Certificate, requireUsable } from './certificate.ts';
import { illegal, participantOf, requireCurrent, unchanged } from './computation.ts';
import { areParametersSet, hasConfirmation } from './participants.ts';
import { requireEncryptionPublicKey } from './party.ts';

/**
 * The keys in a request. `protocol` is the request field that contains them, or undefined if the request has no keys.
 */
export interface ParameterKeys {
  protocol: Protocol | undefined;
  publicKey: SignedMessage | undefined;
  elGamalPublicKey: SignedMessage | undefined;
}

export interface ParametersInput {
  etag: string;
  /** Undefined if the request names a certificate that does not exist. */
  certificate: Certificate | undefined;
  keys: ParameterKeys;
  signed: KeyMember[];
}

/**
 * The maximum size of a key, and also of the signature of a key. The limit is small, because every requisition repeats
 * the keys.
 */
const MAX_KEY_BYTES = 1024;
export const KEY_MEMBERS = ['publicKey', 'elGamalPublicKey'] as const;
export type KeyMember = (typeof KEY_MEMBERS)[number];

/** Reads the keys, and makes all checks of the keys that need no database query. Throws if a check fails. */
export function readKeys(request: Partial<SetParametersRequest>): ParameterKeys {
  const [protocol, another] = PROTOCOLS.filter((name) => name !== 'direct' && request[name] !== undefined);
  if (another !== undefined) {
    throw invalid([{ field: another, description: `must not be set beside ${protocol}` }]);
  }
  const given: Partial<ParameterKeys> = protocol && protocol !== 'direct' ? request[protocol]! : {};
  const { publicKey, elGamalPublicKey } = given;
  const keys: ParameterKeys = { protocol, publicKey, elGamalPublicKey };
  for (const key of KEY_MEMBERS) {
    for (const member of ['message', 'signature'] as const) {
      if ((keys[key]?.[member].length ?? 0) <= MAX_KEY_BYTES) continue;
      const field = `${protocol}.${key}.${member}`;
      throw invalid([{ field, description: `must be at most ${MAX_KEY_BYTES} bytes` }]);
    }
  }
  requireEncryptionPublicKey(keys.publicKey, `${protocol}.publicKey`);
  requireElGamalPublicKey(keys.elGamalPublicKey, `${protocol}.elGamalPublicKey`);
  return keys;
}

/** Checks the key's format, curve, and generator. The duchies check later that the key is a point on the curve. */
function requireElGamalPublicKey(key: SignedMessage | undefined, field: string): void {
  if (key === undefined) return;
  try {
    unpackElGamalPublicKey(key.message);
  } catch (error) {
    if (!(error instanceof ConsentError)) throw error;
    const description = `must be a serialized ElGamalPublicKey. ${error.message}`;
    throw invalid([{ field: `${field}.message`, description }]);
  }
}

/** Stores a duchy's keys. Requisitions can be fulfilled when every duchy has set its keys. */
export function setParameters<A extends Outline>(
  before: A,
  duchy: string,
  input: ParametersInput,
  now: Timestamp,
): Change<A> {
  const own = participantOf(before, duchy);
  requireProtocol(before, input.keys);
  if (own.parameters !== undefined && isSame(own.parameters, input)) return unchanged(before);
  requireCurrent(before, duchy, input.etag);
  if (own.parameters !== undefined) {
    throw illegal(before, duchy, `${duchy} has set other parameters already, and they stay.`);
  }
  const certificate = requireUsable(input.certificate, 'certificate', now);
  const { protocol } = before.measurement;
  requireKeys(protocol, own, input);

  const changing = new ChangeBuilder(before, now);
  const { publicKey, elGamalPublicKey } = input.keys;
  const cause = hasConfirmation(before.measurement) ? 'keysSet' : 'parametersSet';
  changing.stepParticipant(own, cause, {
    parameters: { certificate: certificate.id, publicKey, elGamalPublicKey },
  });
  if (areParametersSet(changing)) {
    for (const requisition of changing.requisitions) changing.stepRequisition(requisition, 'parametersSet');
  }
  return changing.done();
}

function requireProtocol({ measurement }: Outline, { protocol }: ParameterKeys): void {
  if (protocol === undefined || protocol === measurement.protocol) return;
  const description = `must not be set: the computation runs ${measurement.protocol}`;
  throw invalid([{ field: protocol, description }]);
}

function isSame(stored: DuchyParameters, { certificate, keys }: ParametersInput): boolean {
  return (
    stored.certificate === certificate?.id &&
    KEY_MEMBERS.every((member) => isSameMessage(stored[member], keys[member]))
  );
}

function isSameMessage(a: SignedMessage | undefined, b: SignedMessage | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return (
    equalBytes(a.message, b.message) &&
    equalBytes(a.signature, b.signature) &&
    a.signatureAlgorithm === b.signatureAlgorithm
  );
}

/**
 * Requires the keys that a duchy's role needs, each with a valid signature. In share-shuffle, the aggregator's key is
 * optional, because data providers encrypt only for the workers. In Liquid Legions, every duchy needs an ElGamal key
 * for the registers and another key for messages from other duchies.
 */
function requireKeys(
  protocol: Protocol,
  { role }: ParticipantRecord,
  { keys, signed }: ParametersInput,
): void {
  const isShuffle = protocol === 'honestMajorityShareShuffle';
  const required: readonly KeyMember[] = isShuffle
    ? role === 'AGGREGATOR'
      ? []
      : ['publicKey']
    : KEY_MEMBERS;
  for (const member of KEY_MEMBERS) {
    const field = `${protocol}.${member}`;
    if (keys[member] === undefined) {
      if (!required.includes(member)) continue;
      throw invalid([{ field, description: isShuffle ? 'must be set by a worker' : 'must be set' }]);
    }
    if (signed.includes(member)) continue;
    const description = 'is not one over message by the key of certificate';
    throw invalid([{ field: `${field}.signature`, description }]);
  }
}
