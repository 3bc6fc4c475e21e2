/** The parts of OpenAPI 3.1 and JSON Schema 2020-12 that our document uses. */
import type { Keywords } from '../json/codec.ts';

export interface OpenApiDocument {
  openapi: '3.1.0';
  info: {
    title: string;
    version: string;
    description: string;
    contact: { name: string };
    license: { name: string; identifier: string };
  };
  servers: { url: string }[];
  security: Record<string, string[]>[];
  tags: { name: string; description: string }[];
  /** Keyed by path, then by method in lowercase. */
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: {
    schemas: Record<string, JsonSchema>;
    responses: Record<string, OpenApiResponse>;
    headers: Record<string, { description: string; schema: JsonSchema }>;
    securitySchemes: Record<string, Record<string, string>>;
  };
}

export interface OpenApiOperation {
  operationId: string;
  tags: string[];
  summary: string;
  /** Says which kinds of callers are allowed. */
  description: string;
  parameters: OpenApiParameter[];
  requestBody?: { description: string; required: boolean; content: JsonContent };
  responses: Record<string, OpenApiResponse | OpenApiReference>;
}

export interface OpenApiParameter {
  name: string;
  in: 'path' | 'query';
  required: boolean;
  description: string;
  style?: 'form';
  explode?: boolean;
  schema: JsonSchema;
}

export interface OpenApiReference {
  $ref: string;
}

export interface OpenApiResponse {
  description: string;
  headers: Record<string, OpenApiReference>;
  content: JsonContent | { 'text/event-stream': JsonContent['application/json'] };
}

type JsonContent = { 'application/json': { schema: JsonSchema } };

/** Keywords of our schemas that are standard JSON Schema and that do not contain other schemas. */
type Printed = Omit<Keywords, `x-${string}` | 'items' | 'properties' | 'additionalProperties'>;

export interface JsonSchema extends Printed {
  $ref?: string;
  title?: string;
  description?: string;
  contentEncoding?: string;
  pattern?: string;
  const?: string | number;
  examples?: unknown[];
  default?: unknown;
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  propertyNames?: JsonSchema;
  additionalProperties?: JsonSchema | false;
  allOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  readOnly?: boolean;
}
