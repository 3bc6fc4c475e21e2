/** A FileDescriptorSet as the strict reader returns it: plain objects with JSON names, and only fields that are set. */
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
/** The features that an element sets itself; the element inherits all other features. */
export type FeaturesProto = Plain<FeatureSet>;

/** The end of a range is exclusive for messages and inclusive for enums. */
export interface RangeProto {
  start?: number;
  end?: number;
}

/** The path of an element, which becomes text only for a violation. */
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

/** Bounds the response, since a hostile set could have megabytes of violations. */
const MAX_VIOLATIONS = 20;
const MAX_FIELD_LENGTH = 300;

/** Thrown to stop reading a descriptor set that has violations; `Report.of` catches it. */
class Rejection extends Error {}

export class Report {
  readonly violations: Violation[] = [];

  /** Returns the result of `read`, or the violations that stopped it. */
  static of<T>(read: (report: Report) => T): T | { violations: Violation[] } {
    const report = new Report();
    try {
      return read(report);
    } catch (error) {
      if (error instanceof Rejection) return { violations: report.violations };
      throw error;
    }
  }

  /** Whether the limit is reached, so that the check of a long list may stop. */
  get full(): boolean {
    return this.violations.length >= MAX_VIOLATIONS;
  }

  add(path: Path | string | undefined, member: string, description: string): void {
    if (this.full) return;
    const at = String(path ?? '');
    const field = at !== '' && member !== '' ? `${at}.${member}` : at + member;
    // A long path is cut at the front, since its end identifies the element.
    const shown = field.length <= MAX_FIELD_LENGTH ? field : `…${field.slice(-MAX_FIELD_LENGTH)}`;
    this.violations.push({ field: shown, description });
  }

  /** Stops the reading if any violation was reported. */
  requireNone(): void {
    if (this.violations.length > 0) throw new Rejection();
  }

  /** Reports a violation after which nothing else can be read. */
  reject(path: Path | string, member: string, description: string): never {
    this.add(path, member, description);
    throw new Rejection();
  }
}

/** The value of a key, which is made and stored on first use. */
export function cached<K, V>(map: Map<K, V>, key: K, make: () => NoInfer<V>): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** A name from the request in quotes, truncated to fit a message. */
export function quote(name: string): string {
  return JSON.stringify(name.length <= 100 ? name : `${cut(name, 100)}…`);
}

/** Protobuf sets no limit, but long nested names would multiply into gigabytes of full names. */
export const MAX_NAME_LENGTH = 512;
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Why a name is not an identifier; undefined if it is an identifier. */
export function nameFault(name: string): string | undefined {
  if (name === '') return REQUIRED;
  if (name.length > MAX_NAME_LENGTH) return `is longer than ${MAX_NAME_LENGTH} characters`;
  if (!IDENTIFIER.test(name)) return `${quote(name)} is not an identifier`;
  return undefined;
}

/** The full name of a child of a package or message, without a leading dot. */
export function fullName(scope: string, name: string): string {
  return scope === '' ? name : `${scope}.${name}`;
}
