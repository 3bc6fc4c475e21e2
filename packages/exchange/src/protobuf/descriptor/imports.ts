/** Resolves a descriptor set's imports. Every imported file must exist, and imports must not form a cycle. */
import { REQUIRED, readWellKnownFile } from '@measurement-exchange/contract';
import { type FileProto, MAX_NAME_LENGTH, Path, quote, type Report } from './model.ts';

export interface SetFile {
  proto: FileProto;
  /** Undefined for a well-known file that is not part of the set. */
  path: Path | undefined;
  /** The imported files, in the order of `dependency`. */
  imports: SetFile[];
  /** The file's index among all files: first the set's own files, then well-known files. */
  index: number;
  /**
   * Has a 1 at the index of each file whose types this file is allowed to use: itself, its imports, and their public
   * imports. A `Set` per file would be slow for 256 files with many public imports.
   */
  visible: Uint8Array;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern excludes control characters
const FILE_NAME = /^[^\u0000-\u001f\u007f\\]+$/;

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
    const known = byName.get(name);
    const proto = known ? undefined : readWellKnownFile(name);
    if (proto === undefined) return known;
    const added = newFile(proto as unknown as FileProto, undefined);
    byName.set(name, added);
    wellKnown.push(added);
    return added;
  };
  for (const file of files) importsOf(file, find, report);
  // The list grows during the loop, because well-known files import other well-known files.
  for (const file of wellKnown) importsOf(file, find, report);

  report.requireNone();
  const ordered = importedFirst(files, report);
  report.requireNone();
  const all = [...files, ...wellKnown];
  findVisible(all, ordered);
  return all;
}

function findVisible(files: SetFile[], ordered: Iterable<SetFile>): void {
  const offered = files.map((file, i) => {
    file.index = i;
    return new Uint8Array(files.length);
  });
  for (const file of ordered) {
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

function newFile(proto: FileProto, path: Path | undefined): SetFile {
  return { proto, path, imports: [], index: -1, visible: new Uint8Array() };
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

/**
 * Sorts imported files before their importers, and reports cycles. Recursion is safe, because a set has at most 256
 * files.
 */
function importedFirst(files: SetFile[], report: Report): Set<SetFile> {
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
  return done;
}
