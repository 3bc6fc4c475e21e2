/** Collects a descriptor set's declarations by full name, and reports names that are invalid or not unique. */
import type { SetFile } from './imports.ts';
import {
  type EnumProto,
  type FieldProto,
  fullName,
  MAX_NAME_LENGTH,
  type MessageProto,
  nameFault,
  Path,
  quote,
  type Report,
  type ServiceProto,
} from './model.ts';

const MAX_MESSAGES = 10_000;
const MAX_NESTING = 64;

export interface Declared<P> {
  proto: P;
  file: SetFile;
  path: Path | undefined;
}

export interface MessageSymbol extends Declared<MessageProto> {
  kind: 'message';
  name: string;
  parent: MessageSymbol | undefined;
}

export interface EnumSymbol extends Declared<EnumProto> {
  kind: 'enum';
  name: string;
}

/** The declarations of a set. Full names in `types` have no leading dot, unlike type names in fields. */
export interface Symbols {
  types: Map<string, MessageSymbol | EnumSymbol>;
  extensions: Declared<FieldProto>[];
  services: Declared<ServiceProto>[];
}

export function declareSymbols(files: SetFile[], report: Report): Symbols {
  const declaring = new Declaring(report);
  // Declare well-known files first. A duplicate name is then reported for the file in the set.
  for (const file of files) if (file.path === undefined) declaring.file(file);
  for (const file of files) if (file.path !== undefined) declaring.file(file);
  for (const file of files) declaring.packageIsFree(file);
  if (declaring.messages > MAX_MESSAGES) report.reject('', '', `has more than ${MAX_MESSAGES} messages`);
  if (declaring.tooDeep) report.requireNone();
  return declaring.symbols;
}

/**
 * The names in one message, service, or package. A package may span files. It is enough to check that names are unique
 * within each scope, because full names are then unique too.
 */
type Scope = Set<string>;

class Declaring {
  readonly symbols: Symbols = { types: new Map(), extensions: [], services: [] };
  messages = 0;
  tooDeep = false;
  private readonly packages = new Map<string, Scope>();
  private readonly report: Report;

  constructor(report: Report) {
    this.report = report;
  }

  file(file: SetFile): void {
    const { package: name = '', messageType = [], enumType = [], extension = [], service = [] } = file.proto;
    if (name.length > MAX_NAME_LENGTH || (name !== '' && name.split('.').some(nameFault))) {
      this.report.add(file.path, 'package', `${quote(name)} is not a package name`);
      return;
    }
    const scope = this.packages.get(name) ?? new Set();
    this.packages.set(name, scope);
    const at = placesIn(file, file.path, name, scope);
    for (const [i, proto] of messageType.entries()) this.message(proto, at('messageType', i), undefined, 1);
    for (const [i, proto] of enumType.entries()) this.enum(proto, at('enumType', i));
    for (const [i, proto] of extension.entries()) this.extension(proto, at('extension', i));
    for (const [i, proto] of service.entries()) this.service(proto, at('service', i));
  }

  /**
   * Reports a package whose name is also the name of another declaration, such as a message. Checks every part of the
   * name, because `package a.b` declares both `a` and `a.b`.
   */
  packageIsFree(file: SetFile): void {
    const { package: name = '' } = file.proto;
    if (name.length > MAX_NAME_LENGTH) return;
    let outer = '';
    for (const part of name.split('.')) {
      if (this.packages.get(outer)?.has(part)) {
        this.report.add(
          file.path,
          'package',
          `${quote(fullName(outer, part))} is declared as something else too`,
        );
      }
      outer = fullName(outer, part);
    }
  }

  private message(proto: MessageProto, at: Place, parent: MessageSymbol | undefined, nesting: number): void {
    if (at.path !== undefined) this.messages++;
    if (this.messages > MAX_MESSAGES || this.tooDeep) return;
    if (nesting > MAX_NESTING) {
      this.tooDeep = true;
      this.report.add(at.path, '', `nests messages deeper than ${MAX_NESTING} levels`);
      return;
    }
    const { file, path } = at;
    const name = this.type(proto, at);
    if (name === undefined) return;
    const symbol: MessageSymbol = { kind: 'message', proto, name, file, path, parent };
    this.symbols.types.set(name, symbol);

    const { field = [], oneofDecl = [], nestedType = [], enumType = [], extension = [] } = proto;
    const scope: Scope = new Set();
    const inside = placesIn(file, path, name, scope);
    for (const [i, one] of field.entries()) this.name(scope, one.name, path, 'field', i);
    for (const [i, oneof] of oneofDecl.entries()) this.name(scope, oneof.name, path, 'oneofDecl', i);
    for (const [i, nested] of nestedType.entries()) {
      this.message(nested, inside('nestedType', i), symbol, nesting + 1);
    }
    for (const [i, nested] of enumType.entries()) this.enum(nested, inside('enumType', i));
    for (const [i, one] of extension.entries()) this.extension(one, inside('extension', i));
  }

  private enum(proto: EnumProto, at: Place): void {
    const name = this.type(proto, at);
    if (name === undefined) return;
    this.symbols.types.set(name, { kind: 'enum', proto, name, file: at.file, path: at.path });
    // Declare enum values in the scope that contains the enum, as in C++.
    for (const [i, value] of (proto.value ?? []).entries()) {
      this.name(at.scope, value.name, at.path, 'value', i);
    }
  }

  private service(proto: ServiceProto, { file, path, scope }: Place): void {
    this.name(scope, proto.name, path);
    const methods: Scope = new Set();
    for (const [i, method] of (proto.method ?? []).entries()) {
      this.name(methods, method.name, path, 'method', i);
    }
    this.symbols.services.push({ proto, file, path });
  }

  private extension(proto: FieldProto, { file, path, scope }: Place): void {
    if (this.name(scope, proto.name, path)) this.symbols.extensions.push({ proto, file, path });
  }

  private type(proto: { name?: string }, at: Place): string | undefined {
    if (!this.name(at.scope, proto.name, at.path)) return undefined;
    const name = fullName(at.outer, proto.name!);
    if (name.length <= MAX_NAME_LENGTH) return name;
    this.report.add(at.path, 'name', `makes a full name longer than ${MAX_NAME_LENGTH} characters`);
    return undefined;
  }

  /**
   * Adds a name to its scope. If the name is invalid or not unique, reports a violation and returns false. The name
   * belongs to the child `step[index]` of the element at `path`. Without `step`, the name belongs to the element
   * itself.
   */
  private name(scope: Scope, name = '', path?: Path, step?: string, index?: number): boolean {
    if (this.report.full) return false;
    const fault = nameFault(name) ?? (scope.has(name) ? `${quote(name)} is declared twice` : undefined);
    if (fault === undefined) scope.add(name);
    else this.report.add(path, step === undefined ? 'name' : `${step}[${index}].name`, fault);
    return fault === undefined;
  }
}

interface Place {
  file: SetFile;
  path: Path | undefined;
  outer: string;
  scope: Scope;
}

function placesIn(file: SetFile, path: Path | undefined, outer: string, scope: Scope) {
  return (step: string, i: number): Place => ({
    file,
    path: path && new Path(step, i, path),
    outer,
    scope,
  });
}
