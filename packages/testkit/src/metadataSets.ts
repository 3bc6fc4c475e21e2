/** Descriptor sets that buf compiled from metadataProtos/, for tests that decode the metadata of event groups. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  create,
  createFileRegistry,
  type FileRegistry,
  fromBinary,
  fromJson,
  type JsonValue,
  toBinary,
} from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/**
 * Compiles a complete set: the files of google/protobuf come from buf, and those of google/type from this repository.
 */
function compile(): Uint8Array {
  const directory = mkdtempSync(join(tmpdir(), 'mex-protos-'));
  try {
    cpSync(here('metadataProtos'), directory, { recursive: true });
    cpSync(here('../../contract/proto/google/type'), join(directory, 'google/type'), { recursive: true });
    writeFileSync(join(directory, 'buf.yaml'), 'version: v2\n');
    const buf = here('../../../node_modules/.bin/buf');
    const flags = ['--as-file-descriptor-set', '-o', '-#format=binpb'];
    return Uint8Array.from(execFileSync(buf, ['build', directory, ...flags]));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

export const completeSet = compile();

/** The set without google/protobuf and google/type, as providers usually register it. */
export const leanSet = without(completeSet, (name) => name.startsWith('google/'));

export function without(set: Uint8Array, leaveOut: (name: string) => boolean): Uint8Array {
  const { file } = fromBinary(FileDescriptorSetSchema, set);
  const rest = create(FileDescriptorSetSchema, { file: file.filter(({ name }) => !leaveOut(name)) });
  return toBinary(FileDescriptorSetSchema, rest);
}

const registry: FileRegistry = createFileRegistry(fromBinary(FileDescriptorSetSchema, completeSet));

/** Serializes JSON as a provider's own protobuf library would. */
export function serialize(type: string, json: JsonValue): Uint8Array {
  const schema = registry.getMessage(type)!;
  return toBinary(schema, fromJson(schema, json, { registry }));
}

export const typeUrl = (type: string) => `type.googleapis.com/${type}`;
