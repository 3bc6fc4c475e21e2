/**
 * What is checked beyond structure. Each check yields findings; the setting `checks` decides whether they only
 * inform (advisory: the exchange stores and relays) or refuse the request (strict).
 */
import {
  decodeMeasurementSpec,
  ExchangeError,
  type Finding,
  type MeasurementInput,
  type MeasurementType,
  measurementSpecViolations,
  TYPE_URLS,
} from '@measurement-exchange/contract';

export type Checks = 'advisory' | 'strict';

/** Every code there is, what to do about it, and whether it refuses the request under `strict`. */
export const FINDING_CODES = {
  SPEC_UNDECODABLE: {
    refuses: true,
    remedy: 'Send a serialized MeasurementSpec: protobuf binary, or JSON that starts with {.',
  },
  SPEC_PARAMETER_INVALID: { refuses: true, remedy: 'Correct the parameter, sign the spec again and resend.' },
  TYPE_URL_UNKNOWN: { refuses: true, remedy: 'Use the type named here, so that the reader can decode it.' },
  REACH_NOT_DEDUPLICATED: {
    refuses: false,
    remedy: "Read each provider's reach on its own; their sum is an upper bound, their maximum a lower one.",
  },
  METADATA_WITHOUT_PACKAGE: {
    refuses: true,
    remedy: 'Give the file a package, so that the type name cannot collide with that of another provider.',
  },
} as const;
export type FindingCode = keyof typeof FINDING_CODES;

export function finding(code: FindingCode, field: string, message: string): Finding {
  return { code, field, message, remedy: FINDING_CODES[code].remedy };
}

/** Under `strict`, findings that refuse become one error that names every field. */
export function enforce(checks: Checks, findings: Finding[]): void {
  const refusing = findings.filter((f) => FINDING_CODES[f.code as FindingCode].refuses);
  if (checks === 'advisory' || refusing.length === 0) return;
  const first = refusing[0]!;
  throw new ExchangeError('CHECK_FAILED', `${first.field}: ${first.message} ${first.remedy}`, {
    metadata: { codes: [...new Set(refusing.map((f) => f.code))].join(',') },
    violations: refusing.map((f) => ({ field: f.field, description: `${f.code}: ${f.message} ${f.remedy}` })),
  });
}

/** The measurement type of a request, as far as its spec decodes, and what the checks find. */
export function inspectMeasurement(input: MeasurementInput): {
  measurementType: MeasurementType | undefined;
  findings: Finding[];
} {
  const findings: Finding[] = [];
  const decoded = decodeMeasurementSpec(input.measurementSpec.message);
  if ('error' in decoded) {
    const message = `The message is not a MeasurementSpec: ${decoded.error}.`;
    findings.push(finding('SPEC_UNDECODABLE', 'measurementSpec.message', message));
  } else {
    for (const { field, description } of measurementSpecViolations(decoded.spec)) {
      const path = `measurementSpec.message.${field}`;
      findings.push(finding('SPEC_PARAMETER_INVALID', path, `${field} ${description}.`));
    }
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
  return { measurementType: 'spec' in decoded ? decoded.spec.measurementType : undefined, findings };
}

export function reachFinding(): Finding {
  const message =
    "Several providers and no multi-party protocol: each provider's own reach comes back, no union of them.";
  return finding('REACH_NOT_DEDUPLICATED', 'dataProviders', message);
}

/** The result of a direct fulfilment. */
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
