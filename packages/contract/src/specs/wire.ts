/**
 * Reads protobuf bytes strictly according to a schema, and reports the first error. The protobuf runtime's own reader
 * can misread corrupt bytes: it ignores wire types, and lets a nested message run past the end of its parent. This
 * reader also limits the depth and the number of messages before anything large is built.
 */
import {
  type DescEnum,
  type DescField,
  type DescMessage,
  fromBinary,
  type MessageShape,
  ScalarType,
} from '@bufbuild/protobuf';
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt';

/**
 * A decoded message: its `string`, `bool`, `int32`, enum, and message fields, keyed by the fields' JSON names. Fields
 * of other types are checked, but their values are not stored.
 */
export type WireMessage = { [field: string]: unknown };

export interface WireLimits {
  maxMessages: number;
  maxDepth: number;
  /** The maximum number of values in all repeated fields that are not messages. Unlimited by default. */
  maxValues?: number;
  /** Whether a field that the schema does not define is an error. If not, the field is skipped. */
  refuseUnknown?: boolean;
}

type WireResult = { message: WireMessage } | { field: string; reason: string };

/** The limits for a spec. A real spec has only a few messages, nested at most five levels deep. */
export const SPEC_LIMITS: WireLimits = { maxMessages: 100_000, maxDepth: 32 };

export function readWire(schema: DescMessage, bytes: Uint8Array, limits: WireLimits): WireResult {
  try {
    const message: WireMessage = {};
    new WireReader(bytes, limits).message(shapeOf(schema), message, bytes.length, 0);
    return { message };
  } catch (error) {
    if (error instanceof WireFault) return { field: error.path.join('.'), reason: error.message };
    throw error;
  }
}

/** Decodes a message strictly, within SPEC_LIMITS. Throws an Error with the reason if the bytes are invalid. */
export function readMessage<D extends DescMessage>(schema: D, bytes: Uint8Array): MessageShape<D> {
  const wire = readWire(schema, bytes, SPEC_LIMITS);
  if ('reason' in wire) throw new Error(`${wire.field || 'the message'} ${wire.reason}`);
  return fromBinary(schema, bytes);
}

const VARINT = 0;
const FIXED64 = 1;
const LENGTH = 2;
const START_GROUP = 3;
const END_GROUP = 4;
const FIXED32 = 5;

interface WireField {
  name: string;
  wire: number;
  repeated: boolean;
  keep: 'string' | 'bool' | 'int32' | undefined;
  /** Returns the fields of the nested message. Undefined if this field is not a message. */
  shape: (() => Shape) | undefined;
}

interface Shape {
  fields: Map<number, WireField>;
  /**
   * The names of the required fields of a proto2 message. The list excludes fields whose values are not stored, because
   * the reader does not record whether they are present.
   */
  required: string[];
}

const shapes = new WeakMap<DescMessage, Shape>();

function shapeOf(schema: DescMessage): Shape {
  let shape = shapes.get(schema);
  if (!shape) {
    shape = {
      fields: new Map(schema.fields.map((field) => [field.number, wireField(field)])),
      required: schema.fields.filter(isRequired).map((field) => field.jsonName),
    };
    shapes.set(schema, shape);
  }
  return shape;
}

function isRequired(field: DescField): boolean {
  const { keep, shape } = wireField(field);
  return field.presence === FeatureSet_FieldPresence.LEGACY_REQUIRED && (keep ?? shape) !== undefined;
}

function wireField(field: DescField): WireField {
  const name = field.jsonName;
  const repeated = field.fieldKind === 'list' || field.fieldKind === 'map';
  if (field.fieldKind === 'map') {
    const fields = new Map([
      [1, scalarField('key', field.mapKey)],
      [2, valueField('value', field)],
    ]);
    const entry: Shape = { fields, required: [] };
    return { name, wire: LENGTH, repeated, keep: undefined, shape: () => entry };
  }
  const wire = 'delimitedEncoding' in field && field.delimitedEncoding ? START_GROUP : LENGTH;
  return { ...valueField(name, field), repeated, ...(field.message ? { wire } : {}) };
}

function valueField(
  name: string,
  { scalar, message }: { scalar?: ScalarType; message?: DescMessage; enum?: DescEnum },
): WireField {
  if (!message) return scalarField(name, scalar);
  return { name, wire: LENGTH, repeated: false, keep: undefined, shape: () => shapeOf(message) };
}

/** Returns the settings of a scalar field or an enum. An enum has no scalar type, and is encoded as an int32. */
function scalarField(name: string, scalar: ScalarType = ScalarType.INT32): WireField {
  return { name, wire: VARINT, repeated: false, keep: undefined, shape: undefined, ...SCALARS[scalar] };
}

/**
 * Settings that differ from the defaults in `scalarField`. Only types whose values are stored and types that are not
 * varints have an entry.
 */
const SCALARS: { [type in ScalarType]?: Partial<WireField> } = {
  [ScalarType.STRING]: { wire: LENGTH, keep: 'string' },
  [ScalarType.BYTES]: { wire: LENGTH },
  [ScalarType.BOOL]: { keep: 'bool' },
  [ScalarType.INT32]: { keep: 'int32' },
  [ScalarType.DOUBLE]: { wire: FIXED64 },
  [ScalarType.FIXED64]: { wire: FIXED64 },
  [ScalarType.SFIXED64]: { wire: FIXED64 },
  [ScalarType.FLOAT]: { wire: FIXED32 },
  [ScalarType.FIXED32]: { wire: FIXED32 },
  [ScalarType.SFIXED32]: { wire: FIXED32 },
};

class WireFault extends Error {
  readonly path: string[] = [];
}

class WireReader {
  private pos = 0;
  private messages = 0;
  private values = 0;
  /** Nonzero if the varint that was read last has a 1 above its low 32 bits. The exact value has no meaning. */
  private high = 0;
  private readonly bytes: Uint8Array;
  private readonly limits: WireLimits;
  /**
   * The bytes as text, one character per byte. Slicing an ASCII string from this text is ten times faster than decoding
   * the bytes.
   */
  private readonly text: string;

  constructor(bytes: Uint8Array, limits: WireLimits) {
    this.bytes = bytes;
    this.limits = limits;
    this.text = new TextDecoder('latin1').decode(bytes);
  }

  /**
   * Reads a message's fields into `into`. Stops at `end`, or at the end tag of the group with the number `group`. The
   * value 0 of `group` means that the message is not a group.
   */
  message(shape: Shape, into: WireMessage, end: number, depth: number, group = 0): void {
    if (depth > this.limits.maxDepth) throw new WireFault(`nests deeper than ${this.limits.maxDepth} levels`);
    if (++this.messages > this.limits.maxMessages) {
      throw new WireFault(`has more than ${this.limits.maxMessages} messages`);
    }
    while (this.pos < end) {
      const tag = this.length(end);
      const number = tag >>> 3;
      const wire = tag & 7;
      if (wire === END_GROUP && number === group && group !== 0) return;
      const field = shape.fields.get(number);
      if (field === undefined) this.skip(number, wire, end, depth);
      else this.field(field, into, number, wire, end, depth);
    }
    if (group !== 0) throw new WireFault('is truncated');
    for (const name of shape.required) {
      if (into[name] === undefined) throw new WireFault(`lacks the required ${name}`);
    }
  }

  private field(f: WireField, into: WireMessage, number: number, wire: number, end: number, depth: number) {
    try {
      if (f.shape) {
        if (wire !== f.wire) throw wireTypeFault(wire);
        // If a message field that is not repeated occurs twice, merge the two messages, as every protobuf reader does.
        const child: WireMessage = f.repeated ? {} : ((into[f.name] as WireMessage | undefined) ?? {});
        if (wire === START_GROUP) this.message(f.shape(), child, end, depth + 1, number);
        else this.message(f.shape(), child, this.end(end), depth + 1);
        store(f, into, child);
      } else if (wire === f.wire) {
        this.scalar(f, into, end);
      } else if (wire === LENGTH && f.repeated) {
        const packedEnd = this.end(end);
        while (this.pos < packedEnd) this.scalar(f, into, packedEnd);
      } else {
        throw wireTypeFault(wire);
      }
    } catch (error) {
      if (error instanceof WireFault) {
        const index = (into[f.name] as unknown[] | undefined)?.length ?? 0;
        error.path.unshift(f.repeated ? `${f.name}[${index}]` : f.name);
      }
      throw error;
    }
  }

  private scalar(f: WireField, into: WireMessage, end: number): void {
    const { maxValues = Number.POSITIVE_INFINITY } = this.limits;
    if (f.repeated && ++this.values > maxValues)
      throw new WireFault(`is beyond ${maxValues} repeated values`);
    switch (f.wire) {
      case VARINT: {
        const low = this.varint(end);
        if (f.keep === 'int32') store(f, into, low);
        else if (f.keep === 'bool') store(f, into, low !== 0 || this.high !== 0);
        return;
      }
      case LENGTH: {
        const stop = this.end(end);
        if (f.keep === 'string') store(f, into, this.string(stop));
        this.pos = stop;
        return;
      }
      default:
        this.advance(f.wire === FIXED64 ? 8 : 4, end);
    }
  }

  private string(stop: number): string {
    for (let i = this.pos; i < stop; i++) {
      if (this.bytes[i]! < 0x80) continue;
      try {
        return utf8.decode(this.bytes.subarray(this.pos, stop));
      } catch {
        throw new WireFault('is not UTF-8');
      }
    }
    return this.text.slice(this.pos, stop);
  }

  private skip(number: number, wire: number, end: number, depth: number): void {
    if (number === 0) throw new WireFault('has a field with number 0');
    if (this.limits.refuseUnknown) throw new WireFault(`has a field ${number} that its type does not define`);
    if (wire === VARINT) this.varint(end);
    else if (wire === FIXED64) this.advance(8, end);
    else if (wire === LENGTH) this.pos = this.end(end);
    else if (wire === START_GROUP) this.message(NO_FIELDS, {}, end, depth + 1, number);
    else if (wire === FIXED32) this.advance(4, end);
    else throw wireTypeFault(wire);
  }

  private advance(count: number, end: number): void {
    this.pos += count;
    if (this.pos > end) throw new WireFault('is truncated');
  }

  private end(parentEnd: number): number {
    const length = this.length(parentEnd);
    if (length > parentEnd - this.pos) throw new WireFault('is truncated');
    return this.pos + length;
  }

  /** Reads an unsigned 32-bit varint: a tag or a length. */
  private length(end: number): number {
    const low = this.varint(end);
    if (this.high !== 0) throw new WireFault('has a tag or length above 32 bits');
    return low >>> 0;
  }

  /** Reads a varint and returns its low 32 bits as a signed integer. Sets `high` to nonzero if any other bit is 1. */
  private varint(end: number): number {
    let low = 0;
    this.high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.pos >= end) throw new WireFault('is truncated');
      const byte = this.bytes[this.pos++]!;
      if (shift < 32) low |= (byte & 0x7f) << shift;
      if (shift > 28) this.high |= byte & 0x7f;
      else if (shift === 28) this.high |= (byte & 0x7f) >> 4;
      if (byte < 0x80) return low;
    }
    throw new WireFault('has a varint longer than 10 bytes');
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const NO_FIELDS: Shape = { fields: new Map(), required: [] };

function store(field: WireField, into: WireMessage, value: unknown): void {
  if (!field.repeated) into[field.name] = value;
  else if (into[field.name] === undefined) into[field.name] = [value];
  else (into[field.name] as unknown[]).push(value);
}

function wireTypeFault(wire: number): WireFault {
  return new WireFault(`has wire type ${wire}, which its type does not use`);
}
