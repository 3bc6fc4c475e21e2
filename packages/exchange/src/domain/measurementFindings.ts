/** Finds problems in a well-formed request for a measurement. findings.ts explains what findings are. */
import { sameHashes } from '@measurement-exchange/consent';
import {
  type Finding,
  type MeasurementInput,
  measurementSpecViolations,
  type PlainSpec,
  type Protocol,
  TYPE_URLS,
} from '@measurement-exchange/contract';
import { finding } from './findings.ts';
import { typeUrlFindings } from './typeUrls.ts';

/** A decoded MeasurementSpec, or the reason why it cannot be decoded. */
export type DecodedSpec = { spec: PlainSpec } | { error: string };

export function inspectMeasurement(
  input: MeasurementInput,
  decoded: DecodedSpec,
  protocol: Protocol,
): Finding[] {
  return [...specFindings(input, decoded, protocol), ...entryFindings(input)];
}

function specFindings(
  { dataProviders }: MeasurementInput,
  decoded: DecodedSpec,
  protocol: Protocol,
): Finding[] {
  if ('error' in decoded) {
    const message = `The message is not a MeasurementSpec: ${decoded.error}.`;
    return [finding('SPEC_UNDECODABLE', 'measurementSpec.message', message)];
  }
  const { spec } = decoded;
  const findings = measurementSpecViolations(spec, protocol).map(({ field, description }) =>
    finding('SPEC_PARAMETER_INVALID', `measurementSpec.message.${field}`, `${field} ${description}.`),
  );
  const nonceHashes = Object.values(dataProviders).map(({ nonceHash }) => nonceHash);
  if (spec.nonceHashes.length > 0 && !sameHashes(spec.nonceHashes, nonceHashes)) {
    const message = 'The nonce hashes of the spec are not those of the entries in dataProviders.';
    findings.push(finding('NONCE_HASHES_MISMATCH', 'measurementSpec.message.nonceHashes', message));
  }
  return findings;
}

function entryFindings({ dataProviders }: MeasurementInput): Finding[] {
  return Object.entries(dataProviders).flatMap(([name, entry]) => {
    const at = `dataProviders[${name}]`;
    const { dataProviderPublicKey: key, encryptedRequisitionSpec: encrypted } = entry;
    return [
      ...typeUrlFindings(`${at}.dataProviderPublicKey.@type`, key['@type'], [TYPE_URLS.EncryptionPublicKey]),
      ...typeUrlFindings(`${at}.encryptedRequisitionSpec.typeUrl`, encrypted.typeUrl, [
        TYPE_URLS.RequisitionSpec,
        TYPE_URLS.SignedMessage,
      ]),
    ];
  });
}
