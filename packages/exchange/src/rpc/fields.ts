/** Converts field paths in errors to the field names of the protobuf messages. */
import { ExchangeError } from '@measurement-exchange/contract';

/** Fields that have a different name or place in protobuf than in the contract. */
const RENAMED: [contract: RegExp, proto: string][] = [
  [/\bsignatureAlgorithm$/, 'signatureAlgorithmOid'],
  [/(\bdataProviders\[[^\]]*\])\.(?!value\.|key$)/, '$1.value.'],
  [/\.@type$/, '.typeUrl'],
  [/^filter\.(measurementConsumer|dataProvider|entityType)s\b/, 'filter.$1In'],
  [/^filter\.mediaTypes\b/, 'filter.mediaTypesIntersect'],
  [/^population\.displayName$/, 'population.description'],
  [/^apiKey\.displayName$/, 'apiKey.nickname'],
  [/^publicKey\.publicKeyCertificate$/, 'publicKey.certificate'],
  [/^(dataAvailabilityIntervals\[\d+\])\.modelLine$/, '$1.key'],
  [/^(dataAvailabilityIntervals\[\d+\])\.interval\b/, '$1.value'],
];

/**
 * Converts a field path, for example `measurement.measurementSpec` to `measurement.measurement_spec`. Keys in brackets
 * stay as they are.
 */
function protoPath(field: string): string {
  const renamed = RENAMED.reduce((path, [contract, proto]) => path.replace(contract, proto), field);
  return renamed.replace(/\[[^\]]*\]|[A-Z]/g, (part) => (part.length > 1 ? part : `_${part.toLowerCase()}`));
}

/** Returns the error with protobuf names for its fields, including the field name at the start of the error's text. */
export function protoField(error: ExchangeError): ExchangeError {
  if (error.violations.length === 0) return error;
  const violations = error.violations.map(({ field, description }) => ({
    field: protoPath(field),
    description,
  }));
  const first = error.violations[0]!.field;
  const message = error.message.startsWith(`${first}: `)
    ? `${violations[0]!.field}${error.message.slice(first.length)}`
    : error.message;
  const { fieldName } = error.metadata;
  const metadata =
    fieldName === undefined ? error.metadata : { ...error.metadata, fieldName: protoPath(fieldName) };
  return new ExchangeError(error.reason, message, { ...error, metadata, violations, cause: error.cause });
}
