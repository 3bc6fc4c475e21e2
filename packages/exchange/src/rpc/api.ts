/**
 * Connects the RPC services to the request pipeline. A service calls `run` with an operation, and translates the
 * operation's result to protobuf.
 */
import { createContextKey, type HandlerContext } from '@connectrpc/connect';
import {
  ExchangeError,
  invalid,
  type NativeRequest,
  type Operation,
  PATTERNS,
  type ParamsOf,
  type PatternName,
  parseName,
  REQUIRED,
  type RequestOf,
  type ResponseOf,
  ROUTES,
  type Route,
  type RouteOf,
  readNativeRequest,
} from '@measurement-exchange/contract';
import { credentialsIn, type Pipeline, type Progress, type Transfer } from '../serving/index.ts';
import { toConnectError, toExchangeError } from './errors.ts';
import { protoField } from './fields.ts';
import type { Incoming } from './incoming.ts';
import { sizeBound } from './sizes.ts';

export const INCOMING = createContextKey<Incoming>(undefined as never);

/** The maximum size of a page or batch. By default, gRPC clients reject messages above 4 MiB. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024 - 1024;

export class Api {
  private readonly pipeline: Pipeline;

  constructor(pipeline: Pipeline) {
    this.pipeline = pipeline;
  }

  /** Authenticates the caller. Call this before reading the message. */
  async authenticate(incoming: Incoming): Promise<void> {
    const { peer, progress } = incoming;
    try {
      const credentials = credentialsIn(incoming.header('authorization'), peer.address, {
        apiKey: incoming.header('x-api-key'),
        x509Der: peer.x509Der,
      });
      const caller = this.pipeline.authenticate(credentials, progress);
      incoming.caller = caller instanceof Promise ? await caller : caller;
    } catch (error) {
      throw connectErrorOf(error, progress);
    }
  }

  /** Returns the implementation of an RPC with one request message and one response message. */
  unary<Message, Response>(serve: (message: Message, call: Call) => Promise<Response>) {
    return async (message: Message, { values }: Pick<HandlerContext, 'values'>): Promise<Response> => {
      const incoming = values.get(INCOMING);
      try {
        return await serve(message, new Call(this.pipeline, incoming));
      } catch (error) {
        throw connectErrorOf(error, incoming.progress);
      }
    };
  }
}

interface CallRequest extends NativeRequest {
  /** The path of `body` in the request message. */
  within?: string;
  /**
   * Members of the body that the REST schemas do not allow. After the schema check, these members overwrite those of
   * `body`.
   */
  unchecked?: object | undefined;
}

/** A call of an authenticated caller. */
export class Call {
  private readonly pipeline: Pipeline;
  private readonly incoming: Incoming;

  constructor(pipeline: Pipeline, incoming: Incoming) {
    this.pipeline = pipeline;
    this.incoming = incoming;
  }

  get principal() {
    return this.incoming.caller!.principal;
  }

  get pageTokens() {
    return this.pipeline.pageTokens;
  }

  /** Authorizes the call, and runs the operation. `params` are the IDs in the route's path. */
  run<O extends Operation>(
    operation: O,
    params: ParamsOf<RouteOf<O>>,
    request: CallRequest = {},
  ): Promise<ResponseOf<O>> {
    return this.runWith(operation, params, request, (resource) => resource as ResponseOf<O>);
  }

  /**
   * Runs a list operation. While the translated page is too large for the client, runs the operation again with fewer
   * items. Leaves out a single item that is too large, so that the client can read the items after it.
   */
  async runPage<O extends Operation, Page>(
    operation: O,
    params: ParamsOf<RouteOf<O>>,
    request: CallRequest & { query: { pageSize: number } },
    write: (response: ResponseOf<O>) => Page,
    itemsOf: (page: Page) => unknown[],
  ): Promise<Page> {
    let { query } = request;
    for (;;) {
      const page = await this.runWith(operation, params, { ...request, query }, write as never);
      const bytes = sizeBound(page);
      if (bytes <= MAX_PAGE_BYTES) return page as Page;
      const items = itemsOf(page as Page);
      const count = items.length;
      if (count <= 1) {
        items.length = 0;
        return page as Page;
      }
      query = { ...query, pageSize: Math.max(1, Math.floor((count * MAX_PAGE_BYTES * 0.9) / bytes)) };
    }
  }

  private async runWith<O extends Operation, Wire>(
    operation: O,
    params: ParamsOf<RouteOf<O>>,
    request: CallRequest,
    write: (resource: unknown) => Wire,
  ): Promise<Wire> {
    const { incoming } = this;
    const route = routeOf(operation, params);
    const authorized = this.pipeline.authorize(incoming.caller!, { route, params });
    const { within = '', unchecked } = request;
    let isRead = false;
    const transfer: Transfer = {
      isGone: () => incoming.isGone,
      gone: () => incoming.signal,
      leftMs: incoming.leftMs,
      read: (): RequestOf<Operation> => {
        const read = readNativeRequest(route, params, request, within);
        isRead = true;
        if (unchecked !== undefined) Object.assign(read.body!, unchecked);
        return read;
      },
    };
    try {
      return await this.pipeline.run(authorized, transfer, write);
    } catch (error) {
      // Errors of operations have field paths relative to the resource, so prepend the field of the request message
      // that contains the resource.
      const isInside =
        isRead && within !== '' && error instanceof ExchangeError && error.violations.length > 0;
      throw isInside ? error.wrappedIn(within) : error;
    }
  }
}

/** Returns the IDs in a name. `field` is the field of the request message that contains the name. */
export function idsIn<K extends PatternName>(
  pattern: K,
  name: string,
  field = 'name',
): NonNullable<ReturnType<typeof parseName<K>>> {
  const ids = parseName(pattern, name);
  if (ids !== undefined) return ids;
  throw malformedName([pattern], name, field);
}

export function malformedName(patterns: PatternName[], name: string, field = 'name'): ExchangeError {
  return mismatch(patterns.map((pattern) => PATTERNS[pattern]).join(' or '), name, field);
}

/** Returns the error for a name that does not match `pattern`. */
export function mismatch(pattern: string, name: string, field: string): ExchangeError {
  if (name === '') return invalid([{ field, description: REQUIRED }]);
  const description = `must match ${pattern}`;
  return new ExchangeError('MALFORMED_NAME', `${field}: ${description}`, {
    violations: [{ field, description }],
    metadata: { fieldName: field },
  });
}

/**
 * Returns `batch`, the response to a batch request. Throws RESPONSE_TOO_LARGE if the response exceeds the default limit
 * of gRPC clients.
 */
export function withinLimit<Batch>(batch: Batch): Batch {
  if (sizeBound(batch) <= MAX_PAGE_BYTES) return batch;
  throw responseTooLarge('The response would be above 4 MiB: request fewer names.');
}

function responseTooLarge(message: string): ExchangeError {
  return new ExchangeError('RESPONSE_TOO_LARGE', message);
}

/**
 * The routes of each operation. Parties of several kinds can own a resource such as a certificate. An operation on such
 * a resource has one route per kind of party.
 */
const ROUTES_BY_OPERATION = Map.groupBy(ROUTES as readonly Route[], ({ operation }) => operation);

function routeOf(operation: Operation, params: Record<string, string>): Route {
  const routes = ROUTES_BY_OPERATION.get(operation)!;
  if (routes.length === 1) return routes[0]!;
  const ids = Object.keys(params);
  return routes.find(({ path }) => ids.every((id) => path.includes(`{${id}}`)))!;
}

export function connectErrorOf(thrown: unknown, progress: Progress) {
  const error = protoField(toExchangeError(thrown));
  progress.error = error;
  return toConnectError(error, progress.requestId);
}
