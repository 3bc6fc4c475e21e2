/** Reads the messages and enums in a FileDescriptorSet, in the proto3 JSON that the exchange returns. */
import { type EventGroupMetadataDescriptor, toBase64 } from '@measurement-exchange/contract';

export interface SchemaMessage {
  /** The full name, such as `shows.Episode`. */
  name: string;
  file: string;
  fields: SchemaField[];
}

export interface SchemaField {
  name: string;
  number: number;
  /** A scalar type such as `string`, or the full name of a message or enum. */
  type: string;
  repeated: boolean;
  values?: string[];
}

interface FileJson {
  name?: string;
  package?: string;
  messageType?: MessageJson[];
  enumType?: EnumJson[];
}
interface MessageJson {
  name: string;
  field?: { name: string; number: number; type?: string; typeName?: string; label?: string }[];
  nestedType?: MessageJson[];
  enumType?: EnumJson[];
}
interface EnumJson {
  name: string;
  value?: { name: string }[];
}

/** Returns all messages, except protobuf's own. Each nested message follows the message that contains it. */
export function messagesOf({ descriptorSet }: EventGroupMetadataDescriptor): SchemaMessage[] {
  const files = ((descriptorSet as { file?: FileJson[] } | null)?.file ?? []).filter(
    ({ name = '' }) => !name.startsWith('google/'),
  );
  const enums = new Map(files.flatMap((file) => enumsBelow(file, file.package ?? '')));
  return files.flatMap((file) =>
    (file.messageType ?? []).flatMap((message) => below(message, file.package ?? '', file.name ?? '', enums)),
  );
}

const join = (prefix: string, name: string) => (prefix === '' ? name : `${prefix}.${name}`);

function below(
  message: MessageJson,
  prefix: string,
  file: string,
  enums: ReadonlyMap<string, string[]>,
): SchemaMessage[] {
  const name = join(prefix, message.name);
  const fields = (message.field ?? []).map(({ name, number, type = '', typeName, label }): SchemaField => {
    const full = typeName?.replace(/^\./, '');
    const values = full === undefined ? undefined : enums.get(full);
    return {
      name,
      number,
      type: full ?? type.replace('TYPE_', '').toLowerCase(),
      repeated: label === 'LABEL_REPEATED',
      ...(values && { values }),
    };
  });
  return [
    { name, file, fields },
    ...(message.nestedType ?? []).flatMap((nested) => below(nested, name, file, enums)),
  ];
}

function enumsBelow(
  { enumType = [], ...rest }: Pick<MessageJson, 'enumType' | 'nestedType'> & Pick<FileJson, 'messageType'>,
  prefix: string,
): [string, string[]][] {
  const own = enumType.map(({ name, value = [] }): [string, string[]] => [
    join(prefix, name),
    value.map((each) => each.name),
  ]);
  const nested = (rest.messageType ?? rest.nestedType ?? []).flatMap((message) =>
    enumsBelow(message, join(prefix, message.name)),
  );
  return [...own, ...nested];
}

/**
 * Reads a file with a FileDescriptorSet. Returns the parsed JSON if the first character after any white space is a
 * brace. Otherwise, the file is in protobuf's binary format, and the function returns its bytes in base64.
 */
export async function readDescriptorSet(file: Blob): Promise<unknown> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (bytes.length === 0) throw new Error('The file is empty.');
  const text = new TextDecoder().decode(bytes);
  if (!/^\s*\{/.test(text)) return toBase64(bytes);
  try {
    return JSON.parse(text);
  } catch (error) {
    // The file may still be binary. A binary set starts with byte 10, which is also a line feed, and the length of its
    // first file, as a varint. If this length is 123, the second byte is also the code of a brace.
    if (text.startsWith('\n{')) return toBase64(bytes);
    throw error;
  }
}
