/** Generates each operation's error responses: one per HTTP status, with the reasons that have this status. */
import { ERROR_DOMAIN } from '../errors/errors.ts';
import { type Code, REASONS } from '../errors/reasons.ts';
import { errorsOf, type RouteError } from '../requests/errors.ts';
import type { Route } from '../routes/route.ts';
import { printResponse } from './response.ts';
import { pascalCase, type SchemaPrinter } from './schemaPrinter.ts';
import type { JsonSchema, OpenApiReference, OpenApiResponse } from './types.ts';

/**
 * Codes whose reasons are the same in almost every operation. Operations with the same reasons for such a code share
 * one response.
 */
const SHARED: Code[] = ['PERMISSION_DENIED', 'UNAVAILABLE'];

export class ErrorPrinter {
  readonly components: Record<string, OpenApiResponse> = {};
  private readonly errorInfo: JsonSchema;
  private readonly otherDetails: JsonSchema[];

  constructor(schemas: SchemaPrinter) {
    const detail = (name: string, properties: Record<string, JsonSchema>): JsonSchema =>
      schemas.add(
        name,
        object({ '@type': { const: `type.googleapis.com/google.rpc.${name}` }, ...properties }),
      );
    this.errorInfo = detail('ErrorInfo', {
      reason: { type: 'string', enum: Object.keys(REASONS) },
      domain: { const: ERROR_DOMAIN },
      metadata: { type: 'object', additionalProperties: text },
    });
    this.otherDetails = [
      detail('BadRequest', {
        fieldViolations: { type: 'array', items: object({ field: text, description: text }) },
      }),
      detail('RetryInfo', { retryDelay: { type: 'string', pattern: '^[0-9]+s$', examples: ['2s'] } }),
    ];
  }

  responsesOf(route: Route): Record<string, OpenApiResponse | OpenApiReference> {
    const byStatus = Map.groupBy(errorsOf(route), ({ httpStatus }) => httpStatus);
    return Object.fromEntries(
      [...byStatus].map(([status, errors]) => [status, this.share(errors, this.print(status, errors))]),
    );
  }

  /**
   * If operations can share the response, adds it to `components` and returns a reference to it. Otherwise, returns the
   * response unchanged.
   */
  private share(errors: RouteError[], response: OpenApiResponse): OpenApiResponse | OpenApiReference {
    const [{ code, reason }] = errors as [RouteError];
    if (errors.length > 1 && !SHARED.includes(code)) return response;
    const name = pascalCase((errors.length > 1 ? code : reason).toLowerCase());
    const known = this.components[name];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(response)) return response;
    this.components[name] = response;
    return { $ref: `#/components/responses/${name}` };
  }

  private print(status: number, errors: RouteError[]): OpenApiResponse {
    const lines = errors.map(({ reason }) => `- \`${reason}\`: ${REASONS[reason].meaning}`);
    const reasons = errors.map(({ reason }) => reason);
    const errorInfo: JsonSchema = {
      allOf: [object({ reason: { type: 'string', enum: reasons } }), this.errorInfo],
    };
    const error = object({
      code: { const: status },
      status: { type: 'string', enum: [...new Set(errors.map(({ code }) => code))] },
      message: text,
      details: { type: 'array', items: { oneOf: [errorInfo, ...this.otherDetails] } },
    });
    const schema = object({ error });
    if (status === 401) return printResponse(lines.join('\n'), schema, 'www-authenticate');
    if (status === 429 || status === 503) return printResponse(lines.join('\n'), schema, 'retry-after');
    return printResponse(lines.join('\n'), schema);
  }
}

const text: JsonSchema = { type: 'string' };

/**
 * Returns the schema of an object with these required properties. Other properties are allowed, because later
 * versions may add some.
 */
function object(properties: Record<string, JsonSchema>): JsonSchema {
  return { type: 'object', required: Object.keys(properties), properties };
}
