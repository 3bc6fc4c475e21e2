/**
 * The files that a descriptor set may import without containing them: google/protobuf/* from the protobuf runtime, and
 * google/type/* from our folder proto/google/type.
 */
import { type DescFile, toBinary } from '@bufbuild/protobuf';
import type { FileDescriptorProto } from '@bufbuild/protobuf/wkt';
import * as wkt from '@bufbuild/protobuf/wkt';
import { file_mex_contract_google_types } from '../gen/mex/contract/google_types_pb.ts';
import { readWire, SPEC_LIMITS, type WireMessage } from './wire.ts';

const files: DescFile[] = [
  ...Object.values<object>(wkt).filter((each): each is DescFile => 'kind' in each && each.kind === 'file'),
  ...file_mex_contract_google_types.dependencies,
];

/** The well-known files, keyed by import path, such as `google/type/date.proto`. */
export const WELL_KNOWN_FILES: ReadonlyMap<string, DescFile> = new Map(files.map((f) => [f.proto.name, f]));

const wireFiles = new Map<string, WireMessage>();

/** Returns a well-known file in the form that `readWire` produces. */
export function readWellKnownFile(name: string): WireMessage | undefined {
  const file = WELL_KNOWN_FILES.get(name);
  if (file === undefined) return undefined;
  let message = wireFiles.get(name);
  if (message === undefined) {
    const bytes = toBinary(wkt.FileDescriptorProtoSchema, file.proto);
    const wire = readWire(wkt.FileDescriptorProtoSchema, bytes, SPEC_LIMITS);
    message = 'message' in wire ? wire.message : {};
    wireFiles.set(name, message);
  }
  return message;
}

/**
 * Returns whether the import path is in a folder of well-known files. All providers share these files, so the types in
 * them belong to no single provider.
 */
export function isWellKnownFile(name: string): boolean {
  return name.startsWith('google/protobuf/') || name.startsWith('google/type/');
}

/**
 * Returns the files and the well-known files that they import. Each file comes after its imports. Our copy replaces any
 * well-known file among `files`.
 */
export function importedFirst(files: readonly FileDescriptorProto[]): FileDescriptorProto[] {
  const byName = new Map(files.map((file) => [file.name, file]));
  const ordered = new Set<FileDescriptorProto>();
  const visit = (name: string) => {
    const file = WELL_KNOWN_FILES.get(name)?.proto ?? byName.get(name);
    if (file === undefined || ordered.has(file)) return;
    for (const imported of file.dependency) visit(imported);
    ordered.add(file);
  };
  for (const name of byName.keys()) visit(name);
  return [...ordered];
}
