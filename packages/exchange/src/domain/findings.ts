/**
 * Checks beyond structure. Each check returns findings; the setting `checks` decides whether they only
 * inform (advisory: the exchange stores and relays) or reject the request (strict).
 */
import {
  decodeMeasurementSpec,
  ExchangeError,
  type Finding,
  type MeasurementInput,
  measurementSpecViolations,
  type PlainSpec,
  type Protocol,
  type Reason,
  TYPE_URLS,
  toBase64,
} from '@measurement-exchange/contract';

export type Checks = 'advisory' | 'strict';

/**
 * Every code with its remedy, and whether it rejects the request under `strict`: with CHECK_FAILED,
 * or with the reason given here.
 */
export const FINDING_CODES = {
  SPEC_UNDECODABLE: {
    refuses: true,
    remedy: 'Send a serialized MeasurementSpec: protobuf binary, or JSON that starts with {.',
  },
  SPEC_PARAMETER_INVALID: { refuses: true, remedy: 'Correct the parameter, sign the spec again and resend.' },
  SPEC_SIGNATURE_INVALID: {
    refuses: true,
    remedy:
      'Sign exactly the bytes of message with the private key of that certificate; ECDSA signatures are in DER.',
  },
  NONCE_HASHES_MISMATCH: {
    refuses: true,
    remedy: 'List the nonceHash of each entry in the spec, once, sign the spec again and resend.',
  },
  CERTIFICATE_UNTRUSTED: {
    refuses: true,
    remedy:
      'Use a certificate from a trusted root, or ask the operator to trust the root that issued this one.',
  },
  PUBLIC_KEY_NOT_CURRENT: {
    refuses: true,
    remedy:
      'Read the data provider, encrypt the requisition spec for the key it publishes, and send that key.',
  },
  TYPE_URL_UNKNOWN: { refuses: true, remedy: 'Use the type named here, so that the reader can decode it.' },
  REACH_NOT_DEDUPLICATED: {
    refuses: false,
    remedy: "Read each provider's reach on its own; their sum is an upper bound, their maximum a lower one.",
  },
  PROTOCOL_NOT_USED: {
    refuses: false,
    remedy:
      'Where people are to be counted once: change what the message names, or ask the operator of the exchange.',
  },
  PUBLIC_KEY_SIGNATURE_INVALID: {
    refuses: true,
    remedy: 'Register the certificate first, then send the key signed with its private key.',
  },
  METADATA_WITHOUT_PACKAGE: {
    refuses: true,
    remedy: 'Give the file a package, so that the type name cannot collide with that of another provider.',
  },
  // A type of another provider rejects nothing, since two providers may share an industry schema.
  TYPE_ALREADY_REGISTERED: {
    refuses: 'EVENT_GROUP_METADATA_DESCRIPTOR_ALREADY_EXISTS_WITH_TYPE',
    remedy: 'Update the descriptor that has the type, or give the new type a package of its own.',
  },
  SCHEMA_CHANGE_BREAKING: {
    refuses: 'SCHEMA_CHANGE_BREAKING',
    remedy: 'Create a new descriptor instead, then migrate event groups to it.',
  },
} as const satisfies Record<string, { refuses: boolean | Reason; remedy: string }>;
export type FindingCode = keyof typeof FINDING_CODES;

export function finding(
  code: FindingCode,
  field: string,
  message: string,
  remedy: string = FINDING_CODES[code].remedy,
): Finding {
  return { code, field, message, remedy };
}

/** Under `strict`, throws one error for all findings that reject, with every field and the reason of the first finding. */
export function enforce(checks: Checks, findings: Finding[]): void {
  const refusing = findings.filter((f) => refusal(f) !== false);
  if (checks === 'advisory' || refusing.length === 0) return;
  const first = refusing[0]!;
  const reason = refusal(first);
  throw new ExchangeError(
    typeof reason === 'string' ? reason : 'CHECK_FAILED',
    `${first.field}: ${first.message} ${first.remedy}`,
    {
      metadata: { codes: [...new Set(refusing.map((f) => f.code))].join(',') },
      violations: refusing.map((f) => ({
        field: f.field,
        description: `${f.code}: ${f.message} ${f.remedy}`,
      })),
    },
  );
}

function refusal({ code }: Finding): boolean | Reason {
  return FINDING_CODES[code as FindingCode].refuses;
}

/** Findings about the parameters of a spec, once the protocol is chosen. */
export function inspectParameters(spec: PlainSpec | undefined, protocol: Protocol): Finding[] {
  const violations = spec === undefined ? [] : measurementSpecViolations(spec, protocol);
  return violations.map(({ field, description }) =>
    finding('SPEC_PARAMETER_INVALID', `measurementSpec.message.${field}`, `${field} ${description}.`),
  );
}

/** The spec of a request, if it decodes, and what the other checks find. */
export function inspectMeasurement(input: MeasurementInput): {
  spec: PlainSpec | undefined;
  findings: Finding[];
} {
  const findings: Finding[] = [];
  const decoded = decodeMeasurementSpec(input.measurementSpec.message);
  if ('error' in decoded) {
    const message = `The message is not a MeasurementSpec: ${decoded.error}.`;
    findings.push(finding('SPEC_UNDECODABLE', 'measurementSpec.message', message));
  } else {
    findings.push(...nonceHashFindings(decoded.spec.nonceHashes, Object.values(input.dataProviders)));
  }
  for (const [name, entry] of Object.entries(input.dataProviders)) {
    const at = `dataProviders[${name}]`;
    findings.push(
      ...typeUrlFindings(`${at}.dataProviderPublicKey.@type`, entry.dataProviderPublicKey['@type'], [
        TYPE_URLS.EncryptionPublicKey,
      ]),
      ...typeUrlFindings(`${at}.encryptedRequisitionSpec.typeUrl`, entry.encryptedRequisitionSpec.typeUrl, [
        TYPE_URLS.RequisitionSpec,
        TYPE_URLS.SignedMessage,
      ]),
    );
  }
  return { spec: 'spec' in decoded ? decoded.spec : undefined, findings };
}

/** Nonce hashes in a spec are optional, but must match the entries. Duplicates are checked elsewhere. */
function nonceHashFindings(hashes: Uint8Array[], entries: { nonceHash: Uint8Array }[]): Finding[] {
  if (hashes.length === 0 || areNonceHashesOf(entries, hashes)) return [];
  const message = 'The nonce hashes of the spec are not those of the entries in dataProviders.';
  return [finding('NONCE_HASHES_MISMATCH', 'measurementSpec.message.nonceHashes', message)];
}

/** Whether a spec lists the nonce hash of each entry, and no other. */
export function areNonceHashesOf(entries: { nonceHash: Uint8Array }[], hashes: Uint8Array[]): boolean {
  const sorted = (list: Uint8Array[]) => list.map(toBase64).sort().join();
  // The count is compared first, since a hostile spec may hold a million hashes.
  return hashes.length === entries.length && sorted(hashes) === sorted(entries.map((e) => e.nonceHash));
}

export function reachFinding(): Finding {
  const message =
    "Several providers and no multi-party protocol: each provider's own reach comes back, no union of them.";
  return finding('REACH_NOT_DEDUPLICATED', 'dataProviders', message);
}

/** The findings about the result of a direct fulfillment. */
export function inspectResult(typeUrl: string): Finding[] {
  return typeUrlFindings('encryptedResult.typeUrl', typeUrl, [
    TYPE_URLS.MeasurementResult,
    TYPE_URLS.SignedMessage,
  ]);
}

function typeUrlFindings(field: string, actual: string, expected: string[]): Finding[] {
  if (expected.includes(actual)) return [];
  return [finding('TYPE_URL_UNKNOWN', field, `The type is not ${expected.join(' or ')}.`)];
}
