/** Lists all reasons for which this SDK's agent refuses a requisition. docs/refusals.md is generated from this list. */
import type { RefusalJustification } from '@measurement-exchange/contract';

/** The meaning of a refusal code, and what the consumer can do about it. */
export interface RefusalCodeEntry {
  justification: RefusalJustification;
  meaning: string;
  remedy: string;
}

const consent = (meaning: string, remedy: string) => entry('CONSENT_SIGNAL_INVALID', meaning, remedy);
const spec = (meaning: string, remedy: string) => entry('SPEC_INVALID', meaning, remedy);
const declined = (meaning: string, remedy: string) => entry('DECLINED', meaning, remedy);

const REPORT = 'Create the measurement again; if it is refused again, tell the operator of the exchange.';
const TRUST = 'Check your certificate, and ask the provider whether it trusts your root.';

/**
 * All refusal codes. The exchange can read a refusal, so a refusal contains only codes, the field that it is about, and
 * a position in a filter. The details are in the provider's log.
 */
export const REFUSAL_CODES = {
  REQUISITION_INCOMPLETE: spec('The exchange sent the requisition without this field.', REPORT),
  PROVIDER_MISMATCH: consent('The requisition is for another data provider.', REPORT),
  PROTOCOL_NOT_OFFERED: declined(
    'The provider does not take part in the protocol of the measurement.',
    'Measure this provider alone, which needs no multi-party protocol, or leave it out.',
  ),
  CERTIFICATE_FOREIGN: consent('The certificate is not one of the measurement consumer.', REPORT),
  CERTIFICATE_NOT_FOUND: consent(
    'The certificate does not exist at the exchange.',
    'Register your certificate, and measure again.',
  ),
  CERTIFICATE_REVOKED: consent(
    'The certificate is revoked or on hold.',
    'Measure with a certificate that is not revoked.',
  ),
  CERTIFICATE_INVALID: consent('The certificate is not valid or not trusted.', TRUST),
  SIGNATURE_INVALID: consent(
    'The signature is not one by the certificate over these bytes.',
    'Sign with the key of the registered certificate; if you do, somebody altered the specification.',
  ),
  SPEC_MALFORMED: spec(
    'The specification cannot be read.',
    'Send a protobuf message or JSON without unknown fields.',
  ),
  VALUE_OUT_OF_RANGE: spec(
    'The value is missing, or outside of what the provider accepts.',
    'Change the value at the position given.',
  ),
  EPSILON_TOO_SMALL: declined(
    'The epsilon is below the smallest one that the provider answers.',
    'Ask with a larger epsilon, or ask the provider for its smallest.',
  ),
  PROTOCOL_INVALID: spec(
    'The parameters of the protocol do not fit the measurement (its type, its frequencies), are out of range, or hide too little.',
    'Ask for a lower maximumFrequency or fewer providers; else tell the operator of the exchange.',
  ),
  DUCHIES_INVALID: consent(
    'The duchies of the requisition are not those of its protocol, one role each, with the keys that it needs.',
    REPORT,
  ),
  DUCHY_UNKNOWN: consent(
    'The provider has no settings for a duchy of the computation.',
    'Ask the provider which duchies it trusts, and the operator of the exchange which ones compute.',
  ),
  DUCHY_CERTIFICATE_INVALID: consent(
    'The certificate of a duchy is missing, revoked, of another party, not valid, or not trusted.',
    'Tell the operator of the exchange: your own certificate is not at fault.',
  ),
  DUCHY_KEY_INVALID: consent('The key of a duchy is not signed by it, or cannot be used.', REPORT),
  DUCHY_KEY_UNBOUND: consent(
    'The key of a duchy does not say which computation it was made for: the duchy runs an older version.',
    'Tell the operator of the exchange: all duchies of a computation have to run the same version.',
  ),
  DUCHY_TERMS_DIFFER: consent(
    'A duchy made its key for another computation, or was told something else about this one than the provider.',
    'Tell the operators of the duchies: the exchange shows them different specifications or parameters.',
  ),
  NOISE_NOT_ACCEPTED: declined(
    'The duchies add noise of a kind that the provider does not accept.',
    'Ask the provider which noise it accepts, and the operator of the exchange which noise the duchies add.',
  ),
  POPULATION_NOT_ACCEPTED: declined(
    'The people of the provider are not those of the population that is counted.',
    'Ask the provider which populations it accepts, and measure with one of their model lines.',
  ),
  POPULATION_MISMATCH: consent(
    'The population at the exchange is missing, or not the one whose fingerprint the requisition has.',
    REPORT,
  ),
  UPLOAD_LOST: entry(
    'UNFULFILLABLE',
    'The provider lost what it had stored for the duchies, and does not compute a second one.',
    'Measure again; what was read is charged.',
  ),
  UPLOAD_REJECTED: entry(
    'UNFULFILLABLE',
    'A duchy rejected what the provider sent it, again and again.',
    'Tell the operator of the exchange, who knows those of the duchies; what was read is charged.',
  ),
  PROVIDER_KEY_UNKNOWN: consent(
    'The requisition names a key that is not one of the provider.',
    'Read the public key of the provider again, and measure again.',
  ),
  DECRYPTION_FAILED: consent(
    'The requisition specification does not decrypt with the key of the provider.',
    'Encrypt a signed RequisitionSpec under the current public key of the provider.',
  ),
  RESULT_KEY_MISMATCH: consent(
    'The two specifications name different keys for the result.',
    'Put the same measurementPublicKey into the MeasurementSpec and the RequisitionSpec.',
  ),
  RESULT_KEY_INVALID: spec(
    'The key for the result cannot be used.',
    'Put a public Tink keyset of a supported kind into measurementPublicKey.',
  ),
  NONCE_MISMATCH: consent(
    'The nonce of the requisition specification does not hash to nonceHash.',
    'Take nonceHash from the nonce: SHA-256 of its 8 bytes, big-endian.',
  ),
  NONCE_NOT_SIGNED: consent(
    'nonceHash is not among the nonceHashes of the signed MeasurementSpec.',
    'Put the nonce hash of every provider into the MeasurementSpec before you sign it.',
  ),
  SELECTION_MISMATCH: spec(
    'The selection does not fit the type of the measurement.',
    'Select a population for a population measurement, and at least one event group for every other type.',
  ),
  INTERVAL_INVALID: spec(
    'The interval is missing, or does not start before it ends.',
    'Give a start and a later end, between the years 1 and 9999.',
  ),
  TOO_MANY_DAYS: spec(
    'The event groups and days together are more than the provider accepts in one requisition.',
    'Ask for fewer event groups or shorter intervals.',
  ),
  EVENT_GROUP_REPEATED: spec('The event group is selected twice.', 'Select each event group once.'),
  EVENT_GROUP_UNAVAILABLE: spec(
    'The event group does not exist, is not active, or is not one that you may ask this provider about.',
    'Select event groups from your own list of the active ones of this provider.',
  ),
  EVENTS_NOT_RECORDED: entry(
    'UNFULFILLABLE',
    'The provider has no events that old.',
    'Start the interval within the dataAvailabilityInterval of the event group.',
  ),
  FILTER_SYNTAX: spec('The filter is not valid CEL.', 'Correct the filter at the position given.'),
  FILTER_TYPE: spec(
    'An operator, a function or a value of the filter does not fit the types of the attributes.',
    'Correct the filter at the position given; nothing is converted silently (5.0 is a double, 5 an int).',
  ),
  FILTER_ATTRIBUTE: spec(
    'The filter names an attribute that the provider does not offer for filters.',
    'Ask the provider which attributes it offers, and use only these.',
  ),
  FILTER_LIMIT: spec(
    'The filter is too long, too deep or too costly.',
    'Shorten the filter: shorter lists and patterns, less nesting.',
  ),
  QUERY_STOPPED: entry(
    'UNFULFILLABLE',
    'The query went past a limit of the provider: time, memory, or combinations of attributes.',
    'Ask with simpler filters, on attributes with fewer values; what was read is charged.',
  ),
  POPULATION_NOT_OFFERED: declined(
    'The provider has no population figures.',
    'Measure the population at another provider.',
  ),
  EVENTS_NOT_OFFERED: declined(
    'The provider has population figures only.',
    'Measure events at another provider.',
  ),
  MODEL_LINE_NOT_OFFERED: declined(
    'The provider has no VIDs of the model line, or the measurement names none.',
    'Measure with a model line whose VIDs the provider has; ask the provider which ones.',
  ),
  DURATION_NOT_OFFERED: declined(
    'The provider does not record watch durations.',
    'Measure reach or impressions at this provider.',
  ),
  DELTA_REQUIRED: declined(
    'The noise of the provider or of the duchies needs a delta above 0.',
    'Ask with a delta above 0.',
  ),
  BUDGET_EXCEEDED: entry(
    'INSUFFICIENT_PRIVACY_BUDGET',
    'The privacy budget of an event group on a day does not cover what the result costs.',
    'Ask for less: a smaller epsilon, fewer days, other event groups; or ask the provider for more budget.',
  ),
} as const satisfies Record<string, RefusalCodeEntry>;

export type RefusalCode = keyof typeof REFUSAL_CODES;

/**
 * Returns the code at the start of a refusal's message, or undefined if the refusal did not come from this SDK's agent.
 */
export function refusalCodeOf(message: string | undefined): RefusalCode | undefined {
  const word = /^[A-Z_]+/.exec(message ?? '')?.[0] ?? '';
  return Object.hasOwn(REFUSAL_CODES, word) ? (word as RefusalCode) : undefined;
}

function entry(justification: RefusalJustification, meaning: string, remedy: string): RefusalCodeEntry {
  return { justification, meaning, remedy };
}
