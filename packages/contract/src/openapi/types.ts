/** The part of OpenAPI 3.1 and of JSON Schema 2020-12 that our document uses. */

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
  /** The keys are paths, and below them methods in lower case. */
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
  /** The keys are HTTP statuses. */
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

export interface JsonSchema {
  $ref?: string;
  title?: string;
  description?: string;
  type?: string | string[];
  format?: string;
  contentEncoding?: string;
  pattern?: string;
  const?: string | number;
  enum?: readonly string[];
  examples?: unknown[];
  default?: unknown;
  minimum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  minProperties?: number;
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  propertyNames?: JsonSchema;
  additionalProperties?: JsonSchema | false;
  allOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  readOnly?: boolean;
}
