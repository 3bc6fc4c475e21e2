/** Files of a descriptor set and what they import: the set is closed, without cycles, in the right order. */
import { REQUIRED, readWellKnownFile } from '@measurement-exchange/contract';
import { type FileProto, MAX_NAME_LENGTH, Path, quote, type Report } from './model.ts';

export interface SetFile {
  proto: FileProto;
  /** Absent for a well-known file that the set does not contain. */
  path: Path | undefined;
  /** In the order of `dependency`. */
  imports: SetFile[];
  /** The index among all files: those of the set, then the well-known ones. */
  index: number;
  /**
   * 1 at the index of each file whose types this one may name: itself, what it imports, and what those import
   * publicly. Flags, because sets of 256 files that all import each other publicly would take a tenth of a second.
   */
  visible: Uint8Array;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const FILE_NAME = /^[^\u0000-\u001f\u007f\\]+$/;

/** The files of the set and the well-known ones they import. */
export function resolveImports(protos: FileProto[], report: Report): SetFile[] {
  const files: SetFile[] = protos.map((proto, i) => newFile(proto, new Path('file', i)));
  const byName = new Map<string, SetFile>();
  for (const file of files) {
    const { name = '' } = file.proto;
    if (name.length > MAX_NAME_LENGTH || !FILE_NAME.test(name)) {
      report.add(file.path!, 'name', name === '' ? REQUIRED : 'is not a file name');
    } else if (byName.has(name)) {
      report.add(file.path!, 'name', `${quote(name)} is the name of ${byName.get(name)!.path} too`);
    } else {
      byName.set(name, file);
    }
  }

  const wellKnown: SetFile[] = [];
  const find = (name: string): SetFile | undefined => {
    const known = byName.get(name) ?? wellKnownFile(name);
    if (known !== undefined && !byName.has(name)) {
      byName.set(name, known);
      wellKnown.push(known);
    }
    return known;
  };
  for (const file of files) importsOf(file, find, report);
  // The list grows during the loop, since well-known files import others.
  for (const file of wellKnown) importsOf(file, find, report);

  report.requireNone();
  findCycles(files, report);
  report.requireNone();
  const all = [...files, ...wellKnown];
  findVisible(all);
  return all;
}

function findVisible(files: SetFile[]): void {
  const offered = files.map((file, i) => {
    file.index = i;
    return new Uint8Array(files.length);
  });
  for (const file of importedFirst(files)) {
    const offers = offered[file.index]!;
    offers[file.index] = 1;
    for (const i of new Set(file.proto.publicDependency)) unite(offers, offered[file.imports[i]!.index]!);
    file.visible = offers.slice();
    for (const imported of file.imports) unite(file.visible, offered[imported.index]!);
  }
}

function unite(flags: Uint8Array, others: Uint8Array): void {
  for (let i = 0; i < others.length; i++) flags[i]! |= others[i]!;
}

/** The same files, each after everything it imports. Needs a set without cycles. */
function importedFirst(files: SetFile[]): SetFile[] {
  const ordered = new Set<SetFile>();
  const visit = (file: SetFile) => {
    if (ordered.has(file)) return;
    for (const imported of file.imports) visit(imported);
    ordered.add(file);
  };
  for (const file of files) visit(file);
  return [...ordered];
}

function newFile(proto: FileProto, path: Path | undefined): SetFile {
  return { proto, path, imports: [], index: -1, visible: new Uint8Array() };
}

function wellKnownFile(name: string): SetFile | undefined {
  const proto = readWellKnownFile(name);
  return proto && newFile(proto as unknown as FileProto, undefined);
}

function importsOf(file: SetFile, find: (name: string) => SetFile | undefined, report: Report): void {
  const { dependency = [], publicDependency = [] } = file.proto;
  const seen = new Set<string>();
  for (const [i, name] of dependency.entries()) {
    const imported = find(name);
    if (imported) file.imports.push(imported);
    if (file.path === undefined) continue;
    const fault = imported
      ? seen.has(name) && `imports ${quote(name)} twice`
      : `imports ${quote(name)}, which is neither in the set nor a well-known file`;
    if (fault) report.add(file.path, `dependency[${i}]`, fault);
    seen.add(name);
  }
  for (const [i, index] of publicDependency.entries()) {
    if (index >= 0 && index < dependency.length) continue;
    if (file.path) report.add(file.path, `publicDependency[${i}]`, `is not an index into dependency`);
  }
}

/** At most 256 files, so recursion is safe. */
function findCycles(files: SetFile[], report: Report): void {
  const done = new Set<SetFile>();
  const open = new Set<SetFile>();
  const visit = (file: SetFile) => {
    open.add(file);
    for (const [i, imported] of file.imports.entries()) {
      if (open.has(imported)) {
        const what = imported === file ? 'imports itself' : 'closes a cycle of imports';
        if (file.path) report.add(file.path, `dependency[${i}]`, what);
      } else if (!done.has(imported)) {
        visit(imported);
      }
    }
    open.delete(file);
    done.add(file);
  };
  for (const file of files) if (!done.has(file)) visit(file);
}
