import { querySchemaOf, takesRequestId } from '../requests/request.ts';
import type { Body, Route } from '../routes/route.ts';
import { pascalCase, type SchemaPrinter } from './schemaPrinter.ts';
import type { JsonSchema, OpenApiOperation } from './types.ts';

type RequestBody = NonNullable<OpenApiOperation['requestBody']>;

/** Returns a route's request body. The names of its schemas start with `name`. */
export function printRequestBody(route: Route, name: string, schemas: SchemaPrinter): RequestBody {
  const body = route.body!;
  return body.form === 'message'
    ? printMessage(body, name, schemas)
    : printResource(route, body, name, schemas);
}

function printMessage(
  { schema, also }: Extract<Body, { form: 'message' }>,
  name: string,
  schemas: SchemaPrinter,
): RequestBody {
  const message = schemas.inline(schema);
  const properties = { ...message.properties, [also]: repeat(also) };
  return {
    description: `The request message; \`${also}\` may be left out.`,
    required: message.required !== undefined,
    content: { 'application/json': { schema: schemas.add(`${name}Request`, { ...message, properties }) } },
  };
}

/**
 * Returns a body that is either the resource itself or a message that wraps the resource. Both forms have `parent` if
 * the route creates a resource, and `requestId` if the route takes one.
 */
function printResource(
  route: Route,
  body: Extract<Body, { form: 'resource' }>,
  name: string,
  schemas: SchemaPrinter,
): RequestBody {
  const input = schemas.inline(body.schema);
  // A caller may send back a resource as it was read. The schema must therefore list output-only fields too, as
  // read-only.
  const outputOnly = Object.entries(schemas.inline(body.resource).properties!)
    .filter(([field]) => !(field in input.properties!))
    .map(([field, schema]) => [field, { ...schema, readOnly: true }]);
  const resource = { ...input, properties: { ...input.properties, ...Object.fromEntries(outputOnly) } };
  const beside: Record<string, JsonSchema> = {
    ...(body.create ? { parent: repeat('parent') } : {}),
    ...(takesRequestId(route)
      ? { requestId: schemas.inline(querySchemaOf(route)).properties!.requestId! }
      : {}),
  };
  // If updates and creates accept different fields, the update has its own schema, whose name ends in `Update`.
  const suffix = schemas.nameOf(body.schema)?.endsWith('Update') ? 'Update' : 'Input';
  const wrapped: JsonSchema = {
    type: 'object',
    required: [body.member],
    properties: { [body.member]: schemas.add(`${pascalCase(body.member)}${suffix}`, resource), ...beside },
    additionalProperties: false,
  };
  const schema: JsonSchema = {
    oneOf: [
      { title: 'The resource', ...resource, properties: { ...resource.properties, ...beside } },
      { title: 'The request message', ...schemas.add(`${name}Request`, wrapped) },
    ],
  };
  return {
    description:
      `The resource itself, or wrapped as \`${body.member}\`. Output-only fields are accepted and ignored` +
      (body.create ? '.' : '; `name`, if given, must be that of the path.'),
    required: true,
    content: { 'application/json': { schema } },
  };
}

function repeat(what: string): JsonSchema {
  return { type: 'string', description: `May repeat the ${what} of the path.` };
}
