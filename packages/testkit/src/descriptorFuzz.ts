/** Random hostile descriptor sets and messages. Each is drawn from a seed, so that a failure can be reproduced. */
import { create } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import {
  Edition,
  type FeatureSet_FieldPresence,
  type FeatureSet_MessageEncoding,
  FieldDescriptorProto_Label as Label,
  MessageOptionsSchema,
  FieldDescriptorProto_Type as Type,
} from '@bufbuild/protobuf/wkt';
import {
  chain,
  enumList,
  expandingOption,
  expandingTargets,
  type FileInit,
  longName,
  type MessageInit,
  manyFields,
  setOf,
  withUnknown,
} from './hostileDescriptors.ts';

/** The pseudorandom generator Mulberry32: reproducible, and good enough to choose test cases. */
export class Dice {
  private state: number;

  constructor(seed: number) {
    this.state = seed | 0;
  }

  /** Returns an integer from 0 to `sides` − 1. */
  roll(sides: number): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % sides;
  }

  of<T>(choices: readonly T[]): T {
    return choices[this.roll(choices.length)]!;
  }

  isOne(sides: number): boolean {
    return this.roll(sides) === 0;
  }

  /** Returns a size from 1 to `most`. In most cases, the size is at most a tenth of `most`. */
  size(most: number): number {
    return (
      1 + this.roll(this.isOne(12) ? most : this.isOne(3) ? Math.ceil(most / 10) : Math.ceil(most / 100))
    );
  }
}

const DESCRIPTOR = 'google/protobuf/descriptor.proto';
const list = <T>(length: number, make: (i: number) => T) => Array.from({ length }, (_, i) => make(i));
const field = (name: string, number: number, more: object = {}) => ({
  name,
  number,
  label: Label.OPTIONAL,
  type: Type.INT32,
  ...more,
});
const file = (more: FileInit, name = 'fuzz'): FileInit => ({ name: `${name}.proto`, package: name, ...more });
const one = (message: MessageInit, more: FileInit = {}) =>
  setOf(file({ messageType: [{ name: 'M', ...message }], ...more }));

/** Generators of hostile descriptor sets, by the property that makes them hostile. */
const SHAPES: Record<string, (dice: Dice) => Uint8Array> = {
  chain: (dice) => chain(dice.size(9_000), { name: 'fuzz', isCycle: dice.isOne(2) }),
  'many fields': (dice) => manyFields(dice.size(900_000), 'fuzz', dice.of(['f', 'g', 'h_'])),
  'wide message': (dice) =>
    one({ field: list(dice.size(60_000), (i) => field(`f${i}`, i + 1 + (i > 18_000 ? 2_000 : 0))) }),
  'many messages': (dice) =>
    setOf(file({ messageType: list(dice.size(12_000), (i) => ({ name: `M${i}` })) })),
  'many enum values': (dice) =>
    setOf(
      file({
        messageType: [{ name: 'M' }],
        enumType: [{ name: 'E', value: list(dice.size(60_000), (i) => ({ name: `V${i}`, number: i })) }],
      }),
    ),
  'long names': (dice) => {
    const length = dice.of([100, 255, 500, 512, 513, 2_000]);
    return one({ field: list(dice.size(1_500), (i) => field(longName(length, `_${i}`), i + 1)) });
  },
  'long JSON names': (dice) => {
    const rest = '\n'.repeat(dice.of([1, 400, 500, 600]));
    return one({ field: list(dice.size(1_500), (i) => field(`f${i}`, i + 1, { jsonName: `${i}${rest}` })) });
  },
  nesting: (dice) => {
    let message: MessageInit = { name: 'M', field: [field('f', 1)] };
    for (let i = 1 + dice.roll(90); i > 0; i--) message = { name: 'M', nestedType: [message] };
    return setOf(file({ messageType: [message] }));
  },
  'expanding option': (dice) => expandingOption(dice.size(900_000), dice.of([2, 20, 300, 500, 512]), 'fuzz'),
  'expanding targets': (dice) => expandingTargets(dice.size(1_000_000)),
  'recursive option': (dice) => {
    // Build an option value of the type `message R { R r = 1; repeated R s = 2; }` that is nested to a random depth.
    const type = { type: Type.MESSAGE, typeName: '.fuzz.R' };
    let content: Uint8Array = new Uint8Array();
    for (let i = dice.size(3_000); i > 0; i--) {
      content = new BinaryWriter()
        .tag(dice.of([1, 2]), WireType.LengthDelimited)
        .bytes(content)
        .finish();
      if (content.length > 900_000) break;
    }
    const options = withUnknown(create(MessageOptionsSchema), 50_001, content);
    const fields = [field('r', 1, type), field('s', 2, { ...type, label: Label.REPEATED })];
    return setOf(
      file({
        dependency: [DESCRIPTOR],
        messageType: [
          { name: 'M', options },
          { name: 'R', field: fields },
        ],
        extension: [field('o', 50_001, { ...type, extendee: '.google.protobuf.MessageOptions' })],
      }),
    );
  },
  'many options': (dice) => {
    const count = dice.size(8_000);
    const extendee = dice.of(['File', 'Message', 'Field', 'Enum', 'Oneof', 'Method']);
    return setOf(
      file({
        dependency: [DESCRIPTOR],
        messageType: [{ name: 'M' }],
        extension: list(count, (i) =>
          field(`o${i}`, 50_000 + i, { extendee: `.google.protobuf.${extendee}Options` }),
        ),
      }),
    );
  },
  'option of a well-known type': (dice) => {
    const type = dice.of([
      'Any',
      'Struct',
      'Value',
      'Timestamp',
      'Duration',
      'FieldMask',
      'FileDescriptorSet',
    ]);
    const content = Uint8Array.from(
      list(dice.size(20_000), () => dice.of([0x0a, 0, 1, 2, 4, 0x12, 0x1a, 0x7f, dice.roll(256)])),
    );
    return setOf(
      file({
        dependency: [
          DESCRIPTOR,
          ...['any', 'struct', 'timestamp', 'duration', 'field_mask'].map(
            (f) => `google/protobuf/${f}.proto`,
          ),
        ],
        messageType: [{ name: 'M', options: withUnknown(create(MessageOptionsSchema), 50_002, content) }],
        extension: [
          field('o', 50_002, {
            extendee: '.google.protobuf.MessageOptions',
            type: Type.MESSAGE,
            typeName: `.google.protobuf.${type}`,
          }),
        ],
      }),
    );
  },
  'duplicate symbols': (dice) => {
    const count = dice.size(5_000);
    return one({
      field: list(count, (i) => field(`f${i % (1 + dice.roll(count))}`, 1 + (i % (1 + dice.roll(count))))),
      nestedType: list(dice.roll(20), (i) => ({ name: dice.of(['M', 'N', `f${i}`]) })),
    });
  },
  'mutual imports': (dice) => {
    const count = 1 + dice.roll(dice.isOne(4) ? 270 : 40);
    const isCycle = dice.isOne(3);
    return setOf(
      ...list(count, (i): FileInit => {
        const dependency = list(count, (j) => `f${j}.proto`).filter((_, j) => (isCycle ? j !== i : j < i));
        return {
          name: `f${i}.proto`,
          package: `p${i}`,
          messageType: [{ name: 'M' }],
          dependency,
          publicDependency: dice.isOne(2) ? dependency.map((_, j) => j) : [],
        };
      }),
    );
  },
  'default values': (dice) => {
    const long = 'é'.repeat(dice.size(3_000));
    const [type, ...values] = dice.of<[Type, ...string[]]>([
      [Type.STRING, '', 'x', long, '\u0001'],
      [Type.BYTES, '\\377\\0\\n', long, 'x'],
      [Type.DOUBLE, 'inf', '-inf', 'nan', '1e400', '9'.repeat(300)],
      [Type.INT64, '-1', '9223372036854775807', '0'],
      [Type.BOOL, 'true', 'false', dice.isOne(2) ? 'true' : 'x'],
    ]);
    return one({
      field: list(dice.size(2_000), (i) => field(`f${i}`, i + 1, { type, defaultValue: dice.of(values) })),
    });
  },
  maps: (dice) => {
    const count = dice.size(2_000);
    const key = dice.of([Type.STRING, Type.INT32, Type.BOOL, Type.DOUBLE]);
    const entry = (i: number): MessageInit => ({
      name: `F${i}Entry`,
      field: [field('key', 1, { type: key }), field('value', 2, { type: Type.MESSAGE, typeName: '.fuzz.M' })],
      options: { mapEntry: true },
    });
    return one({
      field: list(count, (i) =>
        field(`f${i}`, i + 1, { label: Label.REPEATED, type: Type.MESSAGE, typeName: `.fuzz.M.F${i}Entry` }),
      ),
      nestedType: list(count, entry),
    });
  },
  groups: (dice) => {
    const count = dice.size(2_000);
    return one(
      {
        field: list(count, (i) => field(`g${i}`, i + 1, { type: Type.GROUP, typeName: `.fuzz.M.G${i}` })),
        nestedType: list(count, (i) => ({ name: `G${i}`, field: [field('f', 1)] })),
      },
      { syntax: dice.of(['', 'proto2', 'proto3', 'x']) },
    );
  },
  editions: (dice) => {
    const [type, typeName] = dice.of<[Type, string]>([
      [Type.MESSAGE, '.fuzz.M'],
      [Type.ENUM, '.fuzz.E'],
      [Type.STRING, dice.isOne(4) ? '.fuzz.M' : ''],
    ]);
    const features = () => ({
      fieldPresence: dice.of([0, 1, 2, 3, 77]) as FeatureSet_FieldPresence,
      messageEncoding: dice.of([0, 1, 2]) as FeatureSet_MessageEncoding,
    });
    const named = typeName === '' ? {} : { typeName };
    return one(
      {
        field: list(dice.size(3_000), (i) =>
          field(`f${i}`, i + 1, { type, ...named, options: { features: features() } }),
        ),
      },
      {
        syntax: 'editions',
        edition: dice.of([
          Edition.EDITION_2023,
          Edition.EDITION_2024,
          1_002 as Edition,
          Edition.EDITION_PROTO2,
        ]),
        enumType: [{ name: 'E', value: [{ name: 'V', number: dice.roll(2) }] }],
      },
    );
  },
  ranges: (dice) => {
    const count = dice.size(20_000);
    const width = dice.of([1, 5, 9, 10, 11, 0]);
    const range = (i: number) => ({ start: 10 * i + 1, end: 10 * i + 1 + width });
    return one({
      extensionRange: list(count, range),
      reservedRange: dice.isOne(2) ? list(count, (i) => ({ start: 10 * i + 10, end: 10 * i + 11 })) : [],
      reservedName: list(dice.size(2_000), (i) => `r${i}`),
    });
  },
  extensions: (dice) => {
    const isMessage = dice.isOne(2);
    const type = isMessage ? { type: Type.MESSAGE, typeName: '.fuzz.M' } : { type: Type.INT32 };
    return one(
      {
        extensionRange: [
          { start: 1, end: 19_000 },
          { start: 20_000, end: 536_870_912 },
        ],
      },
      { extension: list(dice.size(8_000), (i) => field(`x${i}`, i + 1, { extendee: '.fuzz.M', ...type })) },
    );
  },
  services: (dice) =>
    one(
      {},
      {
        service: list(dice.size(300), (i) => ({
          name: `S${i}`,
          method: list(dice.roll(30), (j) => ({
            name: `m${j}`,
            inputType: '.fuzz.M',
            outputType: '.fuzz.M',
          })),
        })),
      },
    ),
  'source info': (dice) =>
    one(
      {},
      {
        sourceCodeInfo: {
          location: list(dice.size(40_000), () => ({
            path: [4, dice.roll(9)],
            span: [1, 2, 3],
            leadingComments: dice.of(['', '\u0001', 'é']),
          })),
        },
      },
    ),
  'a redefined well-known file': (dice) =>
    setOf(
      {
        name: DESCRIPTOR,
        package: 'google.protobuf',
        messageType: list(dice.size(50), (i) => ({
          name: dice.of(['FileOptions', 'Any', 'FileDescriptorSet', `M${i}`]),
        })),
      },
      file({
        dependency: [DESCRIPTOR],
        messageType: [{ name: 'M' }],
        extension: [field('o', 50_000, { extendee: '.google.protobuf.FileOptions' })],
      }),
    ),
  'enum list': (dice) => enumList(dice.of([2, 20, 400, 500, 512, 513, 60_000]), 'fuzz'),
  'an empty set': () => new Uint8Array(),
};
const NAMES = Object.keys(SHAPES);

/** Returns a random descriptor set, and a title that says how it was made. */
export function randomSet(dice: Dice): { title: string; set: Uint8Array } {
  const title = dice.of(NAMES);
  const set = SHAPES[title]!(dice);
  if (!dice.isOne(5)) return { title, set };
  return { title: `${title}, damaged`, set: damaged(dice, set) };
}

/** Returns the bytes with random changes: some are overwritten, removed, repeated or cut off. */
function damaged(dice: Dice, set: Uint8Array): Uint8Array {
  let bytes = Buffer.from(set);
  for (let i = 1 + dice.roll(4); i > 0 && bytes.length > 0; i--) {
    const [at, length] = [dice.roll(bytes.length), dice.size(50)];
    const kind = dice.roll(4);
    if (kind === 0) bytes[at] = dice.roll(256);
    else if (kind === 1) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
    else if (kind === 2) bytes = Buffer.concat([bytes.subarray(0, at + length), bytes.subarray(at)]);
    else bytes = bytes.subarray(0, at + 1);
  }
  return bytes;
}

/** Returns a random message for no particular type: nothing, random bytes, one long field, or nested messages. */
export function randomMessage(dice: Dice): Uint8Array {
  const kind = dice.roll(4);
  if (kind === 0) return new Uint8Array();
  if (kind === 1)
    return Uint8Array.from(list(dice.size(3_000), () => dice.of([0x08, 0x0a, 0, 1, 2, dice.roll(256)])));
  const writer = new BinaryWriter();
  if (kind === 2)
    return writer
      .tag(1, WireType.LengthDelimited)
      .bytes(new Uint8Array(dice.size(200_000)))
      .finish();
  let content: Uint8Array = new Uint8Array();
  for (let i = dice.size(2_000); i > 0; i--) {
    content = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(content).finish();
  }
  return content;
}
