/**
 * Checks the rules that a protobuf compiler checks after reading all files, for example that every type exists. The
 * protobuf runtime's registry checks only a few of these rules, stops at the first error, and reports no path.
 */
import { maximumEdition } from '@bufbuild/protobuf';
import { Edition } from '@bufbuild/protobuf/wkt';
import { REQUIRED } from '@measurement-exchange/contract';
import { defaultFault, isMessageType, Label, mapEntryFault, mapEntryName, Type } from './fields.ts';
import type { SetFile } from './imports.ts';
import { cached, type FieldProto, MAX_NAME_LENGTH, Path, quote, type Report } from './model.ts';
import {
  checkEnumRanges,
  checkMessageRanges,
  fieldNumberFault,
  messageRanges,
  type Ranges,
} from './ranges.ts';
import type { Declared, EnumSymbol, MessageSymbol, Symbols } from './symbols.ts';

/**
 * Checks the files of the set. Skips well-known files that are not part of the set, because they have no path and are
 * trusted.
 */
export function linkSymbols(files: SetFile[], symbols: Symbols, report: Report): void {
  const linker = new Linker(symbols.types, report);
  for (const file of files) if (file.path) linker.file(file, file.path);
  for (const symbol of symbols.types.values()) {
    if (symbol.path && symbol.kind === 'message') linker.message(symbol, symbol.path);
    if (symbol.path && symbol.kind === 'enum') linker.enum(symbol, symbol.path);
  }
  for (const extension of symbols.extensions) if (extension.path) linker.extension(extension, extension.path);
  for (const { proto, file, path } of symbols.services) {
    proto.method?.forEach((method, i) => {
      if (!path) return;
      linker.reference(method.inputType, file, 'message', path, `method[${i}].inputType`);
      linker.reference(method.outputType, file, 'message', path, `method[${i}].outputType`);
    });
  }
}

/** A proto3 file is allowed to extend only these options messages of descriptor.proto. */
const OPTIONS =
  /^google\.protobuf\.(?:File|Message|Field|Oneof|ExtensionRange|Enum|EnumValue|Service|Method)Options$/;

class Linker {
  private readonly types: Symbols['types'];
  private readonly report: Report;
  private readonly extended = new Map<MessageSymbol, { ranges: Ranges; numbers: Set<number> }>();
  /** Caches the names of each enum's values, because thousands of fields may use the same large enum. */
  private readonly enumValues = new Map<EnumSymbol, ReadonlySet<string>>();

  constructor(types: Symbols['types'], report: Report) {
    this.types = types;
    this.report = report;
  }

  file({ proto: { syntax = 'proto2', edition = 0 } }: SetFile, path: Path): void {
    if (syntax === 'editions') {
      if (edition < Edition.EDITION_2023 || edition > maximumEdition) {
        this.report.add(path, 'edition', 'is not an edition this exchange knows');
      }
    } else if (syntax !== '' && syntax !== 'proto2' && syntax !== 'proto3') {
      this.report.add(path, 'syntax', `${quote(syntax)} is not proto2, proto3 or editions`);
    }
  }

  message(symbol: MessageSymbol, path: Path): void {
    const { proto } = symbol;
    const ranges = checkMessageRanges(proto, path, this.report);
    const reservedNames = new Set(proto.reservedName);
    const numbers = new Set<number>();
    const oneofs = (proto.oneofDecl ?? []).map(() => 0);
    const fields = proto.field ?? [];
    for (const { oneofIndex = -1 } of fields) if (oneofs[oneofIndex] !== undefined) oneofs[oneofIndex]++;

    fields.forEach((field, i) => {
      if (this.report.full) return;
      const { name = '', number = 0, oneofIndex } = field;
      const at = new Path('field', i, path);
      const kind = ranges.kindOf(number);
      const numberFault =
        fieldNumberFault(number) ||
        (numbers.has(number) && `${number} is the number of another field too`) ||
        (kind === 'reserved' && `${number} is reserved`) ||
        (kind === 'extension' && `${number} is reserved for extensions`);
      if (numberFault) this.report.add(at, 'number', numberFault);
      numbers.add(number);
      if (reservedNames.has(name)) this.report.add(at, 'name', `${quote(name)} is reserved`);
      if (field.extendee !== undefined) this.report.add(at, 'extendee', 'is for extensions only');
      if (oneofIndex !== undefined && oneofs[oneofIndex] === undefined) {
        this.report.add(at, 'oneofIndex', 'is not an index into oneofDecl');
      }
      if (oneofIndex !== undefined && (field.label ?? Label.OPTIONAL) !== Label.OPTIONAL) {
        this.report.add(at, 'label', 'a oneof has only singular fields');
      }
      if (field.proto3Optional && oneofs[oneofIndex ?? -1] !== 1) {
        this.report.add(at, 'proto3Optional', 'must be the only field of its oneof');
      }
      this.field(field, symbol, symbol.file, at);
    });

    oneofs.forEach((count, i) => {
      if (count === 0) this.report.add(path, `oneofDecl[${i}]`, 'has no field');
    });
    if (proto.options?.mapEntry) {
      const fault = mapEntryFault(proto, symbol.parent !== undefined);
      if (fault) this.report.add(path, 'options.mapEntry', fault);
    }
  }

  enum({ proto, file }: EnumSymbol, path: Path): void {
    const values = proto.value ?? [];
    if (values.length === 0) this.report.add(path, 'value', REQUIRED);
    if (file.proto.syntax === 'proto3' && (values[0]?.number ?? 0) !== 0) {
      this.report.add(path, 'value[0].number', 'must be 0, as the first of every proto3 enum');
    }
    const ranges = checkEnumRanges(proto, path, this.report);
    const reservedNames = new Set(proto.reservedName);
    const numbers = new Set<number>();
    values.forEach(({ name = '', number = 0 }, i) => {
      if (this.report.full) return;
      const isAlias = numbers.has(number) && !proto.options?.allowAlias;
      if (isAlias)
        this.report.add(path, `value[${i}].number`, `${number} is taken, and allow_alias is not set`);
      if (ranges.kindOf(number)) this.report.add(path, `value[${i}].number`, `${number} is reserved`);
      if (reservedNames.has(name)) this.report.add(path, `value[${i}].name`, `${quote(name)} is reserved`);
      numbers.add(number);
    });
  }

  extension({ proto, file }: Declared<FieldProto>, path: Path): void {
    const extendee = this.reference(proto.extendee, file, 'message', path, 'extendee');
    this.field(proto, undefined, file, path);
    if (proto.oneofIndex !== undefined) this.report.add(path, 'oneofIndex', 'an extension has no oneof');
    if (proto.label === Label.REQUIRED) this.report.add(path, 'label', 'an extension cannot be required');
    if (extendee?.kind !== 'message') return;
    if (file.proto.syntax === 'proto3' && !OPTIONS.test(extendee.name)) {
      this.report.add(
        path,
        'extendee',
        'proto3 extends only the options of google/protobuf/descriptor.proto',
      );
    }
    const taken = cached(this.extended, extendee, () => ({
      ranges: messageRanges(extendee.proto),
      numbers: new Set<number>(),
    }));
    const { number = 0 } = proto;
    if (taken.ranges.kindOf(number) !== 'extension') {
      this.report.add(path, 'number', `${number} is not in an extension range of ${quote(extendee.name)}`);
    } else if (taken.numbers.has(number)) {
      this.report.add(path, 'number', `${number} extends ${quote(extendee.name)} already`);
    }
    taken.numbers.add(number);
  }

  /** Checks the rules that fields and extensions share. `message` is undefined for an extension. */
  private field(field: FieldProto, message: MessageSymbol | undefined, file: SetFile, at: Path): void {
    const { type = 0, label = Label.OPTIONAL, jsonName = '', defaultValue } = field;
    if (label < Label.OPTIONAL || label > Label.REPEATED) this.report.add(at, 'label', 'is not a label');
    if (jsonName.length > MAX_NAME_LENGTH) this.report.add(at, 'jsonName', 'is too long');
    if (type < Type.DOUBLE || type > Type.SINT64) {
      this.report.add(at, 'type', field.type === undefined ? REQUIRED : 'is not a type');
      return;
    }
    if (file.proto.syntax === 'proto3') {
      if (label === Label.REQUIRED) this.report.add(at, 'label', 'proto3 has no required fields');
      if (type === Type.GROUP) this.report.add(at, 'type', 'proto3 has no groups');
      if (defaultValue !== undefined) this.report.add(at, 'defaultValue', 'proto3 has no default values');
    }
    let values: ReadonlySet<string> | undefined;
    if (type === Type.ENUM) {
      const target = this.reference(field.typeName, file, 'enum', at, 'typeName');
      if (target?.kind === 'enum') values = this.enumField(target, message, file, at);
    } else if (isMessageType(type)) {
      const target = this.reference(field.typeName, file, 'message', at, 'typeName');
      if (target?.kind === 'message' && target.proto.options?.mapEntry)
        this.mapField(field, target, message, at);
    } else if (field.typeName !== undefined) {
      this.report.add(at, 'typeName', 'a scalar type has no type name');
    }
    const fault = defaultFault(field, values);
    if (fault) this.report.add(at, 'defaultValue', fault);
  }

  /** Checks a field of an enum type. Returns the names of the enum's values, which are the allowed default values. */
  private enumField(target: EnumSymbol, message: MessageSymbol | undefined, file: SetFile, at: Path) {
    const { syntax = '' } = target.file.proto;
    if (message && file.proto.syntax === 'proto3' && (syntax === '' || syntax === 'proto2')) {
      this.report.add(at, 'typeName', `${quote(target.name)} is a proto2 enum in a proto3 message`);
    }
    return cached(this.enumValues, target, () => new Set(target.proto.value?.map(({ name = '' }) => name)));
  }

  private mapField(
    { name = '', label, type }: FieldProto,
    entry: MessageSymbol,
    message: MessageSymbol | undefined,
    at: Path,
  ): void {
    const isMapField =
      label === Label.REPEATED &&
      type === Type.MESSAGE &&
      message !== undefined &&
      entry.parent === message &&
      entry.proto.name === mapEntryName(name);
    if (isMapField) return;
    this.report.add(at, 'typeName', `${quote(entry.name)} is a map entry, which only its map field may name`);
  }

  reference(
    name: string | undefined,
    file: SetFile,
    kind: 'message' | 'enum',
    path: Path,
    member: string,
  ): MessageSymbol | EnumSymbol | undefined {
    const fault = (description: string) => {
      this.report.add(path, member, description);
      return undefined;
    };
    if (name === undefined || name === '') return fault(REQUIRED);
    if (name[0] !== '.') return fault(`${quote(name)} must be a full name with a leading dot`);
    const symbol = this.types.get(name.slice(1));
    if (symbol === undefined) return fault(`${quote(name)} is not declared in the set`);
    if (symbol.kind !== kind)
      return fault(`${quote(name)} is not ${kind === 'enum' ? 'an enum' : 'a message'}`);
    if (file.visible[symbol.file.index] === 1) return symbol;
    return fault(
      `${quote(name)} is declared in ${quote(symbol.file.proto.name!)}, which this file does not import`,
    );
  }
}
