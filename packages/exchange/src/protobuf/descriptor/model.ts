/**
 * Types of a FileDescriptorSet as `readWire` returns it: plain objects with JSON names and only the fields that are
 * set.
 */
import type { Message } from '@bufbuild/protobuf';
import type {
  DescriptorProto,
  EnumDescriptorProto,
  FeatureSet,
  FieldDescriptorProto,
  FileDescriptorProto,
  ServiceDescriptorProto,
} from '@bufbuild/protobuf/wkt';
import { cut, REQUIRED, type Violation } from '@measurement-exchange/contract';

type Plain<T> = T extends Uint8Array
  ? T
  : T extends (infer Item)[]
    ? Plain<Item>[]
    : T extends Message
      ? { [K in Exclude<keyof T, keyof Message>]?: Plain<T[K]> }
      : T;

export type FileProto = Plain<FileDescriptorProto>;
export type MessageProto = Plain<DescriptorProto>;
export type FieldProto = Plain<FieldDescriptorProto>;
export type EnumProto = Plain<EnumDescriptorProto>;
export type ServiceProto = Plain<ServiceDescriptorProto>;
/** The features that an element sets itself. The element inherits all other features from the element around it. */
export type FeaturesProto = Plain<FeatureSet>;

/** A range of numbers in a message or an enum. `end` is exclusive in messages and inclusive in enums. */
export interface RangeProto {
  start?: number;
  end?: number;
}

/** The path of an element in a descriptor set. The path is converted to text only if a violation is reported. */
export class Path {
  private readonly step: string;
  private readonly index: number;
  private readonly up: Path | undefined;

  constructor(step: string, index: number, up?: Path) {
    this.step = step;
    this.index = index;
    this.up = up;
  }

  toString(): string {
    return `${this.up === undefined ? '' : `${this.up}.`}${this.step}[${this.index}]`;
  }
}

/** The maximum number of violations reported. A malicious set could have megabytes of violations. */
const MAX_VIOLATIONS = 20;
const MAX_FIELD_LENGTH = 300;

class Rejection extends Error {}

export class Report {
  readonly violations: Violation[] = [];

  static of<T>(read: (report: Report) => T): T | { violations: Violation[] } {
    const report = new Report();
    try {
      return read(report);
    } catch (error) {
      if (error instanceof Rejection) return { violations: report.violations };
      throw error;
    }
  }

  /** True when the maximum number of violations is reached, so that callers can stop checking a long list. */
  get full(): boolean {
    return this.violations.length >= MAX_VIOLATIONS;
  }

  add(path: Path | string | undefined, member: string, description: string): void {
    if (this.full) return;
    const at = String(path ?? '');
    const field = at !== '' && member !== '' ? `${at}.${member}` : at + member;
    // Cut a long path at the front, because its end identifies the element.
    const shown = field.length <= MAX_FIELD_LENGTH ? field : `…${field.slice(-MAX_FIELD_LENGTH)}`;
    this.violations.push({ field: shown, description });
  }

  requireNone(): void {
    if (this.violations.length > 0) throw new Rejection();
  }

  /** Reports a violation and throws a Rejection. Use this if the violation makes the rest of the set unreadable. */
  reject(path: Path | string, member: string, description: string): never {
    this.add(path, member, description);
    throw new Rejection();
  }
}

export function cached<K, V>(map: Map<K, V>, key: K, make: () => NoInfer<V>): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

export function quote(name: string): string {
  return JSON.stringify(name.length <= 100 ? name : `${cut(name, 100)}…`);
}

/**
 * The maximum length of a name. Protobuf itself has no such limit, but the full names of nested messages could add up
 * to gigabytes.
 */
export const MAX_NAME_LENGTH = 512;
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Returns the reason why a name is invalid, or undefined if it is valid. */
export function nameFault(name: string): string | undefined {
  if (name === '') return REQUIRED;
  if (name.length > MAX_NAME_LENGTH) return `is longer than ${MAX_NAME_LENGTH} characters`;
  if (!IDENTIFIER.test(name)) return `${quote(name)} is not an identifier`;
  return undefined;
}

export function fullName(scope: string, name: string): string {
  return scope === '' ? name : `${scope}.${name}`;
}
