/** The client's types, all derived from the contract's routes table. */
import type {
  Change,
  Operation,
  Route,
  RouteOf,
  Routes,
  Static,
  TSchema,
} from '@measurement-exchange/contract';
import type { Listing } from './listing.ts';
import type { WatchArguments } from './watch.ts';

/** A client with one method for each of the exchange's operations, which `docs/openapi.json` describes. */
export type ExchangeClient = { [O in Called]: Method<O> } & {
  /** Follows a party's changes: `for await (const { name, state } of client.watch({ parent }))`. */
  watch(args: WatchArguments): AsyncGenerator<Change, void, undefined>;
};

type Called = Exclude<Operation, Extract<Routes, { streams: true }>['operation']>;

/** The arguments of a method. For example, `ArgumentsOf<'createMeasurement'>`. */
export type ArgumentsOf<O extends Operation> = Args<RouteOf<O>>;

/**
 * The type that a method resolves to: a resource or a `Listing` of resources. For example, `ResponseOf<'getParty'>`.
 */
export type ResponseOf<O extends Operation> = Awaited<Returned<RouteOf<O>>>;

/** The method for an operation. If the operation has several top-level collections, `collection` selects one. */
type Method<O extends Operation> =
  IsUnion<TopLevel<RouteOf<O>['path']>> extends true
    ? <C extends TopLevel<RouteOf<O>['path']>>(
        args: { collection: C } & Args<Extract<RouteOf<O>, { path: C }>>,
      ) => Returned<Extract<RouteOf<O>, { path: C }>>
    : Partial<Args<RouteOf<O>>> extends Args<RouteOf<O>>
      ? (args?: Args<RouteOf<O>>) => Returned<RouteOf<O>>
      : (args: Args<RouteOf<O>>) => Returned<RouteOf<O>>;

/**
 * The arguments of an operation. `R` is a union if the operation has several rows in the routes table. The rows have
 * different paths, and for parties, also different bodies.
 */
type Args<R extends Route> = [R] extends [infer Rows extends Route]
  ? Flat<Target<Rows['path']> & QueryOf<Rows> & BodyOf<Rows> & ValidateOnly<Rows> & { signal?: AbortSignal }>
  : never;

/**
 * The argument that selects the resource: `name` for a path that ends in an ID, or `parent` for a path that ends in a
 * collection. A top-level collection needs no argument.
 */
type Target<P extends string> = P extends `${string}}`
  ? { name: string }
  : P extends `${string}/${string}`
    ? { parent: string }
    : unknown;
type TopLevel<P extends string> = P extends `${string}/${string}` ? never : P;

type QueryOf<R> = R extends { query: infer S extends TSchema } ? Static<S> : unknown;
type BodyOf<R> = R extends { body: { schema: infer S extends TSchema } } ? BodyMember<Static<S>> : unknown;
type BodyMember<B> = Partial<B> extends B ? { body?: B } : { body: B };
type ValidateOnly<R> = R extends { mutates: true } ? { validateOnly?: boolean } : unknown;

type BodyReturned<R> = R extends { response: infer S extends TSchema } ? Static<S> : never;
/**
 * The return type of a method. If a list is endless (every page has a next page), the method returns a single page
 * instead of a `Listing`.
 */
type Returned<R extends Route> =
  'nextPageToken' extends OptionalKeys<BodyReturned<R>>
    ? Listing<ItemOf<BodyReturned<R>>, BodyReturned<R>>
    : Promise<BodyReturned<R>>;
type OptionalKeys<T> = { [K in keyof T]-?: Record<never, never> extends Pick<T, K> ? K : never }[keyof T];
/** The type of the items of a page. The items are in the page's only required array. */
type ItemOf<Page> = Extract<Page[Exclude<keyof Page, OptionalKeys<Page>>], readonly unknown[]>[number];

/** Flattens an intersection type, so that editors show its members, and allows undefined for optional members. */
type Flat<T> = T extends infer U
  ? { [K in keyof U]: Record<never, never> extends Pick<U, K> ? U[K] | undefined : U[K] }
  : never;
type IsUnion<T, All = T> = [T] extends [never]
  ? false
  : T extends T
    ? [All] extends [T]
      ? false
      : true
    : never;
