/** Renders an OpenAPI schema as a list of fields, and generates example values from it. */
import type { JsonSchema } from '@measurement-exchange/contract';
import { type Html, html, prose } from './html.ts';

export type Schemas = Record<string, JsonSchema>;

export function fieldsOf(schema: JsonSchema, schemas: Schemas): Html {
  const { oneOf, properties = {}, required = [] } = resolve(schema, schemas);
  if (oneOf !== undefined) {
    return html`${oneOf.map(
      (one, i) => html`<details${i === 0 ? html` open` : ''}><summary>${one.title ?? typeOf(one)}</summary>
${fieldsOf(one, schemas)}</details>`,
    )}`;
  }
  const fields = Object.entries(properties).filter(([, field]) => !field.readOnly);
  if (fields.length === 0) return html`<p class="none">No fields.</p>`;
  return html`<ul class="fields">
${fields.map(([name, field]) => fieldItem(name, field, required.includes(name), schemas))}</ul>`;
}

function fieldItem(name: string, field: JsonSchema, required: boolean, schemas: Schemas): Html {
  const head = html`<code>${name}</code> <span class="type">${typeOf(field)}</span>${
    required ? html` <span class="required">required</span>` : ''
  }`;
  const notes = notesOf(field, resolve(field, schemas).description);
  const inner = innerOf(field, schemas);
  if (inner === undefined) return html`<li>${head}${notes}</li>\n`;
  return html`<li><details><summary>${head}</summary>${notes}${fieldsOf(inner, schemas)}</details></li>\n`;
}

/**
 * Returns the schema of the object in a field, or undefined if the field contains no object. For a list or a map, this
 * is the schema of an item or a value.
 */
function innerOf(field: JsonSchema, schemas: Schemas): JsonSchema | undefined {
  const schema = resolve(field, schemas);
  if (schema.items !== undefined) return innerOf(schema.items, schemas);
  if (schema.additionalProperties) return innerOf(schema.additionalProperties, schemas);
  return schema.oneOf !== undefined || Object.keys(schema.properties ?? {}).length > 0 ? schema : undefined;
}

export function notesOf(schema: JsonSchema, description = schema.description): Html {
  const { minLength = 0, maxLength, minItems = 0, maxItems, contentEncoding } = schema;
  const values = schema.enum ?? schema.items?.enum;
  const notes = [
    description === undefined ? undefined : prose(description),
    schema.propertyNames?.description && prose(`Keys: ${schema.propertyNames.description}.`),
    values && html`One of ${values.map((value, i) => html`${i > 0 ? ', ' : ''}<code>${value}</code>`)}.`,
    maxLength && contentEncoding === undefined ? range(minLength, maxLength, 'characters') : undefined,
    maxItems && range(minItems, maxItems, 'items'),
  ].filter((note) => note !== undefined && note !== 0 && note !== '');
  return notes.length === 0 ? html`` : html`<p>${notes.map((note, i) => [i > 0 ? ' ' : '', note])}</p>`;
}

function range(min: number, max: number, what: string): string {
  return min > 0 ? `${min} to ${max} ${what}.` : `At most ${max} ${what}.`;
}

export function typeOf(schema: JsonSchema): string {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1)!;
  if (schema.items !== undefined) return `list of ${typeOf(schema.items)}`;
  if (schema.additionalProperties) return `map of ${typeOf(schema.additionalProperties)}`;
  if (schema.contentEncoding !== undefined) return 'bytes in base64';
  if (schema.format === 'date-time') return 'timestamp';
  if (schema.enum !== undefined) return 'enum';
  if (schema.const !== undefined) return `"${schema.const}"`;
  if (schema.oneOf !== undefined) return 'one of several';
  return schema.type === undefined ? 'any JSON' : [schema.type].flat().join(' or ');
}

/** Returns an example value with only the required fields. Plain text without an example is `…`. */
export function exampleOf(schema: JsonSchema, schemas: Schemas): unknown {
  const { oneOf, examples, items, properties = {}, required = [], ...rest } = resolve(schema, schemas);
  if (oneOf !== undefined) return exampleOf(oneOf[0]!, schemas);
  if (examples !== undefined) return examples[0];
  if (rest.enum !== undefined) return rest.enum[0];
  if (items !== undefined) return [exampleOf(items, schemas)];
  if (rest.additionalProperties) {
    return {
      [String(rest.propertyNames?.examples?.[0] ?? 'key')]: exampleOf(rest.additionalProperties, schemas),
    };
  }
  if (rest.contentEncoding !== undefined)
    return Buffer.alloc((rest.minLength ?? 0) > 40 ? 32 : 3, 1).toString('base64');
  switch ([rest.type].flat()[0]) {
    case 'string':
      return rest.format === 'date-time' ? '2030-01-01T00:00:00Z' : '…';
    case 'integer':
      return 1;
    case 'boolean':
      return true;
    default:
      return Object.fromEntries(required.map((name) => [name, exampleOf(properties[name]!, schemas)]));
  }
}

export function resolve(schema: JsonSchema, schemas: Schemas): JsonSchema {
  return schema.$ref === undefined ? schema : schemas[typeOf(schema)]!;
}
