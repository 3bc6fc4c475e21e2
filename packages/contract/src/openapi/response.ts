import type { JsonSchema, OpenApiDocument, OpenApiResponse } from './types.ts';

const text: JsonSchema = { type: 'string' };

export const HEADERS = {
  'x-request-id': { description: 'Names the request in the logs of the exchange.', schema: text },
  'www-authenticate': { description: 'Always `Bearer`.', schema: text },
  'retry-after': { description: 'After how many seconds to retry.', schema: { type: 'integer' } },
} satisfies OpenApiDocument['components']['headers'];

export function printResponse(
  description: string,
  schema: JsonSchema,
  ...headers: (keyof typeof HEADERS)[]
): OpenApiResponse {
  const references = (['x-request-id', ...headers] as const).map((name) => [
    name,
    { $ref: `#/components/headers/${name}` },
  ]);
  return {
    description,
    headers: Object.fromEntries(references),
    content: { 'application/json': { schema } },
  };
}

/** `schema` is the schema of each event in the stream. */
export function printStream(description: string, schema: JsonSchema): OpenApiResponse {
  return { ...printResponse(description, schema), content: { 'text/event-stream': { schema } } };
}
