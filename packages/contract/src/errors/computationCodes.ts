/**
 * All codes that duchies use to report failures and progress, as listed in docs/failures.md. A failure never contains
 * text that a participant wrote, because such text could reveal private data to the other parties to the measurement.
 */
import type { Violation } from './errors.ts';

const entry = (meaning: string, remedy: string) => ({ meaning, remedy });

const OPERATOR = 'Create the measurement again; if it fails again, tell the operator of the exchange.';
const DUCHIES =
  'Tell the operator of the exchange, who knows the operators of the duchies: their logs say more.';
const TRUST = 'Check the certificate, and ask the operator of the duchy whether it trusts the root.';

/** The reasons that a duchy can give for failing a computation. */
export const FAILURE_CODES = {
  PROTOCOL_UNKNOWN: entry('The duchy does not know the protocol, or this stage of it.', DUCHIES),
  PROTOCOL_INVALID: entry('A parameter of the protocol is out of range.', OPERATOR),
  PROTOCOL_UNFIT: entry(
    'The protocol cannot compute what the specification asks for.',
    'Ask for a lower maximumFrequency, a larger epsilon or fewer providers, or for another type of measurement.',
  ),
  PARTICIPANTS_INVALID: entry(
    'The participants are not the duchies of the protocol, with one role each.',
    OPERATOR,
  ),
  REQUISITIONS_INVALID: entry('The requisitions are not one per provider, each for one worker.', OPERATOR),
  COMPUTATION_CHANGED: entry(
    'The exchange now says something else about the computation than when the duchy accepted it.',
    OPERATOR,
  ),
  TERMS_MISMATCH: entry(
    'A participant works under other terms: another specification, protocol or set of requisitions.',
    OPERATOR,
  ),
  BINDING_MISSING: entry(
    'A key or a seed does not say which computation it was made for: its signer runs an older version.',
    'Tell the operator of the exchange: all parties of a computation have to run this version.',
  ),
  SPEC_MALFORMED: entry(
    'The specification cannot be read.',
    'Send a protobuf message or JSON without unknown fields.',
  ),
  SPEC_INVALID: entry(
    'A value of the specification is missing or out of range.',
    'Change the value at the position given.',
  ),
  CERTIFICATE_FOREIGN: entry('The certificate does not belong to this party.', OPERATOR),
  CERTIFICATE_NOT_FOUND: entry(
    'The certificate does not exist at the exchange.',
    'Register the certificate, and measure again.',
  ),
  CERTIFICATE_REVOKED: entry(
    'The certificate is revoked or on hold.',
    'Measure again with a certificate that is not revoked.',
  ),
  CERTIFICATE_INVALID: entry('The certificate is not valid, or the duchy does not trust it.', TRUST),
  SIGNATURE_INVALID: entry(
    'The signature is not one by the certificate over these bytes.',
    'Sign with the key of the registered certificate; if you do, somebody altered what was signed.',
  ),
  NONCES_NOT_SIGNED: entry(
    'The requisitions are not those whose nonce hashes the consumer signed.',
    'Put the nonce hash of every provider into the MeasurementSpec before you sign it.',
  ),
  NONCE_MISMATCH: entry(
    'The nonce that the provider sent does not hash to what the consumer signed.',
    'Measure again; if it fails again, tell the provider.',
  ),
  NOISE_NOT_ACCEPTED: entry(
    'The duchy accepts no computation with this noise mechanism.',
    'Tell the operator of the exchange: its noise mechanism and the settings of the duchy differ.',
  ),
  POPULATION_MISMATCH: entry(
    'The population at the exchange does not have the fingerprint in the protocol config.',
    OPERATOR,
  ),
  RESULT_KEY_INVALID: entry(
    'The key for the result cannot be used.',
    'Put a public Tink keyset of a supported kind into measurementPublicKey.',
  ),
  UPLOAD_INVALID: entry(
    'The upload of the provider is not what the provider signed for this computation.',
    'Measure again; if it fails again, tell the provider.',
  ),
  SEED_INVALID: entry(
    'The seed of the provider cannot be opened, or is not what the provider signed for this computation.',
    'Measure again; if it fails again, tell the provider.',
  ),
  PEER_KEY_INVALID: entry(
    'The key of the other duchy is not one that it signed for this computation, or cannot be used.',
    DUCHIES,
  ),
  PEER_MESSAGE_INVALID: entry(
    'A message of the other duchy cannot be opened, or does not follow the protocol.',
    DUCHIES,
  ),
  PEER_REJECTED: entry('The other duchy rejects this message permanently.', DUCHIES),
  STAGE_FAILED: entry('The stage failed again and again.', DUCHIES),
};
export type FailureCode = keyof typeof FAILURE_CODES;

export const PROGRESS_CODES = {
  RUNNING: 'In progress.',
  DONE: 'Done.',
  RETRIED: 'Failed; it is tried again.',
  WAITS_FOR_EXCHANGE: 'The exchange is out of reach, or does not accept calls of the duchy for now.',
  WAITS_FOR_PEER: 'The other duchy does not respond, or does not take the message for now.',
  WAITS_FOR_KEY: 'The other duchy has not published its key yet.',
  WAITS_FOR_MESSAGE: 'The message of the other duchy is missing.',
  WAITS_FOR_UPLOAD: 'The upload is missing.',
  WAITS_FOR_CERTIFICATE: 'The certificate is not valid yet.',
  DATABASE_DIFFERS:
    'The database of the duchy has no record of its work in this computation: it is an old copy, or another database.',
};
export type ProgressCode = keyof typeof PROGRESS_CODES;

/**
 * The field, stage, or party that a problem concerns. All parties to the measurement can read a position. It therefore
 * contains only names, and no free text that could reveal private data.
 */
export interface Position {
  field?: string | undefined;
  /** The name of a stage, or of a message between duchies. */
  stage?: string | undefined;
  requisition?: string | undefined;
  dataProvider?: string | undefined;
  duchy?: string | undefined;
}

/** Matches field paths such as `measurementSpec.reach.privacyParams.epsilon` and `measurementSpec.nonceHashes[2]`. */
const FIELD = /^[A-Za-z][A-Za-z0-9]{0,63}(\.[A-Za-z][A-Za-z0-9]{0,63}|\[[0-9]{1,4}\]){0,15}$/;
const STAGE = /^[A-Z][A-Z0-9_]{0,63}$/;

/**
 * Returns a violation for a field or stage that does not look like a name, because a participant could otherwise send
 * any text.
 */
export function positionViolations({ field, stage }: Position): Violation[] {
  const violations: Violation[] = [];
  if (field !== undefined && !FIELD.test(field)) {
    violations.push({ field: 'position.field', description: 'must be the path of a field' });
  }
  if (stage !== undefined && !isStageName(stage)) {
    violations.push({ field: 'position.stage', description: STAGE_RULE });
  }
  return violations;
}

export const STAGE_RULE = 'must be the name of a stage or a message: capital letters, digits and _';

export function isStageName(stage: string): boolean {
  return STAGE.test(stage);
}

/** Returns text such as `PEER_MESSAGE_INVALID at SETUP_PHASE_INPUT of duchies/beta: A message of the other duchy …` */
export function describeFailure(code: FailureCode, position: Position = {}): string {
  return `${code}${at(position)}: ${FAILURE_CODES[code].meaning}`;
}

/** Returns text such as `WAITS_FOR_PEER at duchies/beta: The other …`. Without a position, omits the code. */
export function describeProgress(code: ProgressCode, position: Position = {}): string {
  const where = at(position);
  return where === '' ? PROGRESS_CODES[code] : `${code}${where}: ${PROGRESS_CODES[code]}`;
}

function at({ field, stage, requisition, dataProvider, duchy }: Position): string {
  const parts = [field, stage, requisition, dataProvider, duchy].filter((part) => part !== undefined);
  return parts.length === 0 ? '' : ` at ${parts.join(' of ')}`;
}
