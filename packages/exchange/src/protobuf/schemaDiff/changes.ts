/** Lists the kinds of differences between two schemas, and tells which kinds break readers. */
import type { SchemaChange } from '@measurement-exchange/contract';
import { quote } from '../descriptor/model.ts';

/**
 * All kinds of changes. The value says why a kind is breaking, or is undefined if the kind is compatible. A change is
 * breaking if a message of one version is read differently with the other version, or if a name that a reader may look
 * up is removed.
 */
export const CHANGE_KINDS = {
  SYNTAX_CHANGED: undefined,
  MESSAGE_ADDED: undefined,
  MESSAGE_MOVED: undefined,
  MESSAGE_REMOVED: 'Metadata of this type can no longer be read.',
  FIELD_ADDED: undefined,
  REQUIRED_FIELD_ADDED: 'Messages written before lack it and are refused.',
  FIELD_REMOVED: 'Readers no longer find what it held.',
  FIELD_RENUMBERED: 'Messages written before are read without it.',
  FIELD_RENAMED: 'Readers of JSON, and all that ask for it by name, no longer find it.',
  JSON_NAME_CHANGED: 'Readers of JSON no longer find it.',
  FIELD_TYPE_CHANGED: 'What was written before is read as something else, or not at all.',
  FIELD_TYPE_CHANGED_WIRE_COMPATIBLE:
    'The bytes can still be read, but their JSON or the range of values differs.',
  FIELD_CARDINALITY_CHANGED: 'Messages of one version are refused, cut or shaped otherwise by the other.',
  FIELD_PRESENCE_CHANGED: undefined,
  FIELD_PACKING_CHANGED: undefined,
  FIELD_ENCODING_CHANGED: 'Messages written before can no longer be read.',
  FIELD_UTF8_VALIDATION_CHANGED: 'One version refuses text that the other takes.',
  FIELD_DEFAULT_CHANGED: 'Where it is not set, readers see another value.',
  FIELD_MOVED_INTO_ONEOF: 'A writer that sets another field of the oneof clears this one.',
  FIELD_MOVED_OUT_OF_ONEOF: 'Readers that expect one of several fields may find more.',
  ONEOF_RENAMED: 'Readers that ask for the oneof by name no longer find it.',
  MAP_KEY_CHANGED: 'Entries written before can no longer be read as they were.',
  MAP_VALUE_CHANGED: 'Entries written before can no longer be read as they were.',
  RESERVED_REMOVED: 'Something new may take it and misread what was written before.',
  EXTENSION_RANGE_REMOVED: 'Extensions with these numbers can no longer be read.',
  EXTENSION_ADDED: undefined,
  EXTENSION_REMOVED: 'Readers no longer find what it held.',
  ENUM_ADDED: undefined,
  ENUM_MOVED: undefined,
  ENUM_REMOVED: 'Readers that ask for it by name no longer find it.',
  ENUM_TYPE_CHANGED: 'One version keeps numbers without a name, the other drops them.',
  ENUM_VALUE_ADDED: undefined,
  ENUM_VALUE_REMOVED: 'Messages that hold it show a bare number, and JSON that names it cannot be read.',
  ENUM_VALUE_RENUMBERED: 'Messages written before are read as another value.',
  ENUM_VALUE_RENAMED: 'Its name in JSON differs.',
  // Changes to services are compatible, because no metadata message contains a service.
  SERVICE_ADDED: undefined,
  SERVICE_CHANGED: undefined,
  SERVICE_REMOVED: undefined,
} as const satisfies Record<string, string | undefined>;
export type ChangeKind = keyof typeof CHANGE_KINDS;

const MAX_PATH_LENGTH = 1000;

/**
 * The list contains at most this many breaking changes, and at most this many compatible changes. Two unrelated
 * descriptor sets could have 100,000 differences.
 */
const MAX_LISTED = 1_000;

export class Changes {
  readonly list: SchemaChange[] = [];
  breaking = 0;
  compatible = 0;

  get omitted(): number {
    return this.breaking + this.compatible - this.list.length;
  }

  add(kind: ChangeKind, path: string, what: string): void {
    const because = CHANGE_KINDS[kind];
    if ((because === undefined ? ++this.compatible : ++this.breaking) > MAX_LISTED) return;
    // Cut a long path at the front, because its end identifies the element.
    const shown = path.length <= MAX_PATH_LENGTH ? path : `…${path.slice(1 - MAX_PATH_LENGTH)}`;
    const message = `${shown} ${what}.${because === undefined ? '' : ` ${because}`}`;
    this.list.push({ kind, path: shown, breaking: because !== undefined, message });
  }

  differs(kind: ChangeKind, path: string, what: string, before: string, after: string): void {
    if (before !== after)
      this.add(kind, path, `changed its ${what} from ${short(before)} to ${short(after)}`);
  }
}

export function short(name: string): string {
  return quote(name).slice(1, -1);
}
