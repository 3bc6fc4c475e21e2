/**
 * Findings are problems in well-formed requests. With the setting `checks: advisory`, findings only inform the caller.
 * With `checks: strict`, most findings reject the request.
 */
import { ExchangeError, type Finding, type Reason } from '@measurement-exchange/contract';

export type Checks = 'advisory' | 'strict';

/**
 * All findings. `refuses` tells whether a finding rejects the request in `strict` mode. If `refuses` is a string, this
 * string is the error's reason. If `refuses` is `true`, the error's reason is CHECK_FAILED.
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
      'If people are to be counted once, change what the message says, or ask the operator of the exchange.',
  },
  PUBLIC_KEY_SIGNATURE_INVALID: {
    refuses: true,
    remedy: 'Register the certificate first, then send the key signed with its private key.',
  },
  METADATA_WITHOUT_PACKAGE: {
    refuses: true,
    remedy: 'Give the file a package, so that the type name cannot collide with that of another provider.',
  },
  // In `strict` mode, this finding rejects the request only if the type is in another descriptor of the same provider.
  // Different providers are allowed to register the same type, because they may share an industry schema.
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

/**
 * Throws one error for all findings that reject the request, unless `checks` is `advisory`. The first finding
 * determines the error's reason.
 */
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
