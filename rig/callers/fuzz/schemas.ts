/**
 * Generates values that conform to a JSON schema, and checks whether values conform. Supports only the subset of JSON
 * Schema that the OpenAPI document uses.
 */
import type { JsonSchema, OpenApiDocument } from '@measurement-exchange/contract';
import fc, { type Arbitrary } from 'fast-check';

/** A reference to a resource, which is chosen when the request is sent. `pick` is an index into the matching names. */
export class NameRef {
  readonly pattern: string;
  readonly pick: number;
  constructor(pattern: string, pick: number) {
    this.pattern = pattern;
    this.pick = pick;
  }
}

export type Schemas = OpenApiDocument['components']['schemas'];

/** Generators for values that the schema does not describe: any JSON, and bytes of base64 fields. */
export interface Vocabulary {
  anything: Arbitrary<unknown>;
  bytes: (min: number) => Arbitrary<Uint8Array>;
}

/** Each optional field is present in one of 3 generated values, and each output-only field in one of 12. */
const PRESENT = { optional: 3, readOnly: 12 };

export class Conforming {
  private readonly schemas: Schemas;
  private readonly vocabulary: Vocabulary;
  private readonly made = new Map<string, Arbitrary<unknown>>();

  constructor(schemas: Schemas, vocabulary: Vocabulary) {
    this.schemas = schemas;
    this.vocabulary = vocabulary;
  }

  of(schema: JsonSchema): Arbitrary<unknown> {
    if (schema.$ref !== undefined) {
      let arbitrary = this.made.get(schema.$ref);
      if (arbitrary === undefined) {
        arbitrary = this.of(resolveSchema(this.schemas, schema));
        this.made.set(schema.$ref, arbitrary);
      }
      return arbitrary;
    }
    if (schema.oneOf !== undefined) return fc.oneof(...schema.oneOf.map((one) => this.of(one)));
    if (schema.const !== undefined) return fc.constant(schema.const);
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
    if (schema.format === 'uint64') {
      const integer = fc.oneof(
        fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
        fc.constantFrom(0n, 2n ** 53n + 1n, 2n ** 64n - 1n),
      );
      return fc.oneof(integer, integer.map(String));
    }
    switch (schema.type) {
      case 'object':
        return this.object(schema);
      case 'array':
        return fc.array(this.of(schema.items!), {
          minLength: schema.minItems ?? 0,
          maxLength: Math.min(schema.maxItems ?? 3, (schema.minItems ?? 0) + 3),
        });
      case 'boolean':
        return fc.boolean();
      case 'integer':
        return fc.oneof(fc.nat(3), fc.nat(2_000));
      case 'string':
        return this.string(schema);
      default:
        return this.vocabulary.anything;
    }
  }

  private object(schema: JsonSchema): Arbitrary<unknown> {
    const { properties, required = [], additionalProperties, propertyNames, minProperties = 0 } = schema;
    if (properties === undefined) {
      const key = this.of({ type: 'string', ...propertyNames });
      const value = additionalProperties ? this.of(additionalProperties) : this.vocabulary.anything;
      return fc
        .array(fc.tuple(key, value), { minLength: minProperties, maxLength: minProperties + 2 })
        .map((entries) => new MapOf(entries));
    }
    const members = Object.entries(properties).map(([name, member]) => {
      const value = this.of(member);
      if (required.includes(name)) return value.map((v) => [name, v]);
      const absent = (member.readOnly ? PRESENT.readOnly : PRESENT.optional) - 1;
      return fc
        .oneof({ weight: absent, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value })
        .map((v) => [name, v]);
    });
    return fc
      .tuple(...members)
      .map((entries) => Object.fromEntries(entries.filter(([, v]) => v !== undefined)));
  }

  private string(schema: JsonSchema): Arbitrary<unknown> {
    const { pattern, contentEncoding, format, minLength = 0, maxLength = 40 } = schema;
    if (contentEncoding === 'base64') {
      const isHash = maxLength === 64;
      const bytes = isHash
        ? fc.uint8Array({ minLength: 32, maxLength: 32 })
        : this.vocabulary.bytes(minLength > 0 ? 1 : 0);
      return fc
        .tuple(bytes, fc.constantFrom('base64', 'base64url'))
        .map(([b, form]) => Buffer.from(b).toString(form as 'base64'));
    }
    if (format === 'date-time') {
      const range = { min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true };
      return fc.date(range).map((date) => date.toISOString());
    }
    if (pattern?.includes('/')) return fc.nat(1_000).map((pick) => new NameRef(pattern, pick));
    if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
    return fc
      .string({ minLength, maxLength: Math.min(maxLength, minLength + 40), unit: 'grapheme' })
      .filter(isText);
  }
}

/** A map whose keys may be names that are chosen when the request is sent. */
export class MapOf {
  readonly entries: [key: unknown, value: unknown][];
  constructor(entries: [unknown, unknown][]) {
    this.entries = entries;
  }
}

function isText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

export function resolveSchema(schemas: Schemas, schema: JsonSchema): JsonSchema {
  return schema.$ref === undefined ? schema : schemas[schema.$ref.split('/').at(-1)!]!;
}

type Check = (value: unknown, at: string) => string | undefined;

/**
 * Returns a function that makes the check for a schema. The check says where and why a value does not conform, or
 * returns undefined if the value conforms.
 */
export function conformityOf(schemas: Schemas): (schema: JsonSchema) => Check {
  const compiled = new Map<JsonSchema, Check>();
  const compile = (given: JsonSchema): Check => {
    const schema = resolveSchema(schemas, given);
    const known = compiled.get(schema);
    if (known !== undefined) return known;
    const check: Check = (value, at) =>
      checks.map((one) => one(value, at)).find((problem) => problem !== undefined);
    compiled.set(schema, check);
    const checks = checksOf(schema, compile);
    return check;
  };
  return compile;
}

const TYPES: Record<string, (value: unknown) => boolean> = {
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  array: Array.isArray,
  string: (value) => typeof value === 'string',
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
};
/** The time format of the exchange's responses: UTC with microseconds. */
const PRINTED_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;
const PRINTED_BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function checksOf(schema: JsonSchema, compile: (schema: JsonSchema) => Check): Check[] {
  const checks: Check[] = [];
  const want = (what: string, holds: (value: never) => boolean) =>
    checks.push((value, at) => (holds(value as never) ? undefined : `${at} ${what}`));
  const text = (what: string, holds: (value: string) => boolean) =>
    want(what, (v) => typeof v !== 'string' || holds(v));
  const types = [schema.type ?? []].flat();
  if (types.length > 0)
    want(`is not ${types.join(' or ')}`, (value) => types.some((type) => TYPES[type]!(value)));
  if (schema.const !== undefined) want(`is not ${schema.const}`, (value) => value === schema.const);
  if (schema.enum !== undefined) want('is none of the enum', (value: string) => schema.enum!.includes(value));
  if (schema.format === 'date-time') text('is not a printed time', (value) => PRINTED_TIME.test(value));
  if (schema.contentEncoding === 'base64')
    text('is not padded base64', (value) => PRINTED_BASE64.test(value));
  if (schema.minLength !== undefined) text('is too short', (value) => value.length >= schema.minLength!);
  if (schema.maxLength !== undefined) text('is too long', (value) => [...value].length <= schema.maxLength!);
  if (schema.pattern !== undefined) {
    const pattern = new RegExp(schema.pattern);
    text('does not match its pattern', (value) => pattern.test(value));
  }
  if (schema.items !== undefined) {
    const item = compile(schema.items);
    checks.push((value, at) =>
      (Array.isArray(value) ? value : [])
        .map((one, i) => item(one, `${at}[${i}]`))
        .find((p) => p !== undefined),
    );
  }
  if (schema.oneOf !== undefined) {
    const alternatives = schema.oneOf.map(compile);
    checks.push((value, at) =>
      alternatives.some((one) => one(value, at) === undefined)
        ? undefined
        : `${at} is none of the alternatives`,
    );
  }
  for (const name of schema.required ?? [])
    want(`has no ${name}`, (value) => Object.hasOwn(Object(value), name));
  if (schema.properties !== undefined) checks.push(membersCheck(schema, compile));
  else if (schema.additionalProperties) {
    const member = compile(schema.additionalProperties);
    const key = schema.propertyNames && compile(schema.propertyNames);
    checks.push((value, at) =>
      Object.entries(Object(value))
        .map(([name, one]) => key?.(name, `${at} key ${name}`) ?? member(one, `${at}.${name}`))
        .find((problem) => problem !== undefined),
    );
  }
  return checks;
}

function membersCheck(schema: JsonSchema, compile: (schema: JsonSchema) => Check): Check {
  const members = new Map(
    Object.entries(schema.properties!).map(([name, member]) => [name, compile(member)]),
  );
  return (value, at) => {
    if (typeof value !== 'object' || value === null) return undefined;
    for (const [name, one] of Object.entries(value)) {
      const check = members.get(name);
      if (check === undefined) {
        if (schema.additionalProperties === false) return `${at}.${name} is not documented`;
        continue;
      }
      const problem = check(one, `${at}.${name}`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}
