/** Translates the values that several services share. Leaves bytes as they are, instead of encoding them for JSON. */
import { create, type DescEnum, toBinary } from '@bufbuild/protobuf';
import type { Any, Timestamp as ProtoTimestamp } from '@bufbuild/protobuf/wkt';
import { AnySchema, TimestampSchema } from '@bufbuild/protobuf/wkt';
import {
  type EncryptedMessage,
  type EncryptionPublicKey,
  ExchangeError,
  findSignatureAlgorithm,
  invalid,
  type NativeObject,
  readMessage,
  type SignedMessage,
  specs,
  TYPE_URLS,
} from '@measurement-exchange/contract';

/** Returns undefined for an empty string or empty bytes, because protobuf encodes absent values as empty. */
export function given<T extends string | Uint8Array>(value: T | undefined): T | undefined {
  return value === undefined || value.length === 0 ? undefined : value;
}

/**
 * Returns the name of an enum value, or undefined for 0. Returns an unknown number as text, which the schemas reject.
 */
export function enumName({ value }: DescEnum, number: number): string | undefined {
  return number === 0 ? undefined : (value[number]?.name ?? String(number));
}

export function enumNames(schema: DescEnum, numbers: number[]): string[] | undefined {
  return numbers.length === 0 ? undefined : numbers.map((number) => enumName(schema, number) ?? '');
}

export function fromTimestamp(time: ProtoTimestamp | undefined): string | undefined {
  if (time === undefined) return undefined;
  const millis = Number(time.seconds) * 1000;
  // Return text that is not a timestamp, so that the schema reports the field.
  if (!(Math.abs(millis) < 8.64e15) || time.nanos < 0 || time.nanos > 999_999_999) return 'out of range';
  const second = new Date(millis).toISOString().slice(0, -5);
  return `${second}.${String(Math.floor(time.nanos / 1000)).padStart(6, '0')}Z`;
}

export function toTimestamp(time: string): ProtoTimestamp;
export function toTimestamp(time: string | undefined): ProtoTimestamp | undefined;
export function toTimestamp(time: string | undefined): ProtoTimestamp | undefined {
  if (time === undefined) return undefined;
  // Parse only the whole seconds, because `Date.parse` drops microseconds.
  const seconds = BigInt(Date.parse(`${time.slice(0, 19)}Z`) / 1000);
  return create(TimestampSchema, { seconds, nanos: Number(time.slice(20, 26)) * 1000 });
}

/** Translates a signed message. Reads the older field `data` if `message` is absent. */
export function fromSigned(signed: specs.SignedMessage | undefined): NativeObject | undefined {
  if (signed === undefined) return undefined;
  return {
    message: given(signed.message?.value) ?? given(signed.data),
    signature: given(signed.signature),
    signatureAlgorithm: given(signed.signatureAlgorithmOid),
  };
}

const MAX_COPY_BYTES = 1024 * 1024;

/**
 * Returns the value of a field that only older clients read, and that repeats another field. Returns undefined if two
 * copies would make the message larger than clients accept.
 */
export function olderCopy(bytes: Uint8Array | undefined): Uint8Array | undefined {
  return bytes !== undefined && bytes.length <= MAX_COPY_BYTES ? bytes : undefined;
}

/** Translates a signed message. Also sets the older field `data`, because older clients read only this field. */
export function toSigned(signed: SignedMessage, typeUrl: string): specs.SignedMessage;
export function toSigned(signed: SignedMessage | undefined, typeUrl: string): specs.SignedMessage | undefined;
export function toSigned(
  signed: SignedMessage | undefined,
  typeUrl: string,
): specs.SignedMessage | undefined {
  if (signed === undefined) return undefined;
  const { message, signature, signatureAlgorithm: algorithm } = signed;
  return create(specs.SignedMessageSchema, {
    message: anyOf(typeUrl, message),
    data: olderCopy(message),
    signature,
    signatureAlgorithmOid: algorithm === undefined ? '' : findSignatureAlgorithm(algorithm)!.oid,
  });
}

/**
 * The first byte of a spec in JSON. A spec in protobuf never starts with this byte, because the byte would be the tag
 * of a group, and specs have no groups.
 */
const BRACE = 0x7b;

export function isJsonSpec(spec: SignedMessage | undefined): boolean {
  return spec?.message[0] === BRACE;
}

/** Translates the signed spec of a request. `field` is the request's field that contains the bytes of the spec. */
export function fromSignedSpec(
  signed: specs.SignedMessage | undefined,
  field: string,
): NativeObject | undefined {
  const spec = fromSigned(signed);
  if ((spec?.message as Uint8Array | undefined)?.[0] !== BRACE) return spec;
  throw invalid([{ field, description: 'must be protobuf' }]);
}

/** Translates a MeasurementSpec. Throws if the spec is stored as JSON, because gRPC clients cannot read JSON specs. */
export function toSignedSpec(spec: SignedMessage | undefined, name: string): specs.SignedMessage | undefined {
  if (!isJsonSpec(spec)) return toSigned(spec, TYPE_URLS.MeasurementSpec);
  throw new ExchangeError('SPEC_NOT_PROTOBUF', `The measurementSpec of ${name} is JSON: read it by REST.`, {
    metadata: { name },
  });
}

/**
 * Translates an encrypted message whose plaintext is a SignedMessage. gRPC clients use the type URL of SignedMessage.
 * REST uses `typeUrl`, which is the type of the message inside the SignedMessage.
 */
export function fromEncrypted(
  encrypted: specs.EncryptedMessage | undefined,
  typeUrl: string,
): NativeObject | undefined {
  if (encrypted === undefined) return undefined;
  return {
    ciphertext: given(encrypted.ciphertext),
    typeUrl: encrypted.typeUrl === TYPE_URLS.SignedMessage ? typeUrl : given(encrypted.typeUrl),
  };
}

export function toEncrypted(
  encrypted: EncryptedMessage | undefined,
  typeUrl: string,
): specs.EncryptedMessage | undefined {
  if (encrypted === undefined) return undefined;
  return create(specs.EncryptedMessageSchema, {
    ciphertext: encrypted.ciphertext,
    typeUrl: encrypted.typeUrl === typeUrl ? TYPE_URLS.SignedMessage : encrypted.typeUrl,
  });
}

/** Translates a public key of a request. `field` is the request's field that contains the key. */
export function fromPublicKey(key: Any | undefined, field: string): NativeObject | undefined {
  if (key === undefined) return undefined;
  const { format, data } = readKey(key, field);
  return {
    '@type': given(key.typeUrl),
    data: given(data),
    format: enumName(specs.EncryptionPublicKey_FormatSchema, format),
  };
}

function readKey({ typeUrl, value }: Any, field: string): specs.EncryptionPublicKey {
  if (typeUrl !== '' && typeUrl !== TYPE_URLS.EncryptionPublicKey) {
    throw invalid([{ field: `${field}.typeUrl`, description: `must be ${TYPE_URLS.EncryptionPublicKey}` }]);
  }
  try {
    return readMessage(specs.EncryptionPublicKeySchema, value);
  } catch (error) {
    throw invalid([{ field: `${field}.value`, description: (error as Error).message }]);
  }
}

/**
 * Translates a public key. Always sets the format of the keyset, because data providers compare the whole key,
 * including the format, with their own key.
 */
export function toPublicKey(key: EncryptionPublicKey | undefined): Any | undefined {
  if (key === undefined) return undefined;
  const format = specs.EncryptionPublicKey_Format[key.format ?? 'TINK_KEYSET'];
  const message = create(specs.EncryptionPublicKeySchema, { format, data: key.data });
  return anyOf(TYPE_URLS.EncryptionPublicKey, toBinary(specs.EncryptionPublicKeySchema, message));
}

export function anyOf(typeUrl: string, value: Uint8Array): Any {
  return create(AnySchema, { typeUrl, value });
}
