/**
 * Makes a random request in two steps. First, fast-check draws a plan. Then `build` makes a request from the plan and
 * the current state. If a request fails a check, fast-check shrinks its plan.
 */
import {
  type JsonSchema,
  type OpenApiDocument,
  type OpenApiParameter,
  ROUTES,
  type Route,
} from '@measurement-exchange/contract';
import { bindingOf, elsewhere } from '@measurement-exchange/testkit/callers/cells';
import { MATRIX, type Row } from '@measurement-exchange/testkit/callers/rights';
import fc, { type Arbitrary, type MaybeWeightedArbitrary } from 'fast-check';
import { Random } from '../../random.ts';
import { Conforming, MapOf, NameRef, resolveSchema, type Vocabulary } from './schemas.ts';
import type { Speaker, State } from './state.ts';
import { type Filled, type Material, TEMPLATES } from './templates.ts';
import { applyTwist, type Draft, type Twist, twists } from './twists.ts';

export interface Plan {
  operation: Operation;
  /**
   * How to choose the caller. If `right` is true, only kinds of parties with a right to this operation are candidates.
   * `pick` selects one of the candidates.
   */
  speaker: { right: boolean; pick: number };
  /**
   * How to choose the resource in the path. If `known` is true, `pick` selects a resource that the fuzzer knows. If
   * `known` is false, or if the fuzzer knows no such resource, the path names an absent resource.
   */
  target: { known: boolean; pick: number };
  query: Record<string, unknown>;
  /** If undefined, the operation's template makes the body. Without a template, the request has no body. */
  body: unknown;
  salt: number;
  twists: Twist[];
}

/** An entry of the routes table, with its row of the rights matrix and its entry in the OpenAPI document. */
export interface Operation {
  route: Route;
  row: Row;
  document: OpenApiDocument['paths'][string][string];
  /** The methods that the OpenAPI document lists for this path. */
  methods: string[];
  /**
   * Output-only fields of the body. A caller is allowed to send these fields back. The exchange ignores their values.
   */
  ignored: Set<string>;
  /** All operations, including this one. */
  siblings: readonly Operation[];
}

export interface Built extends Draft {
  plan: Plan;
  speaker: Speaker;
  filled: Filled | undefined;
  /** True if a template made the body, no twist changes the request, and the caller has the right to the operation. */
  inOrder: boolean;
}

export function operationsOf(document: OpenApiDocument): Operation[] {
  const operations: Operation[] = [];
  for (const route of ROUTES as readonly Route[]) {
    // Event streams have separate tests, because their response does not end.
    if (route.streams) continue;
    const path = document.paths[`/v2alpha/${route.path}${route.verb ? `:${route.verb}` : ''}`]!;
    operations.push({
      route,
      row: MATRIX[bindingOf(route)]!,
      document: path[route.method.toLowerCase()]!,
      methods: Object.keys(path).map((method) => method.toUpperCase()),
      ignored: ignoredIn(document, route),
      siblings: operations,
    });
  }
  return operations;
}

function ignoredIn({ paths, components }: OpenApiDocument, { path, verb, method }: Route): Set<string> {
  const names = new Set<string>();
  const visit = (schema: JsonSchema): void => {
    const { properties = {}, items, oneOf = [] } = resolveSchema(components.schemas, schema);
    for (const [name, member] of Object.entries(properties)) {
      if (member.readOnly) names.add(name);
      else visit(member);
    }
    for (const inner of [...oneOf, ...(items === undefined ? [] : [items])]) visit(inner);
  };
  const { requestBody } = paths[`/v2alpha/${path}${verb ? `:${verb}` : ''}`]![method.toLowerCase()]!;
  if (requestBody !== undefined) visit(requestBody.content['application/json'].schema);
  return names;
}

/** Operations that advance measurements are drawn more often. */
const OFTEN: Record<string, number> = {
  createMeasurement: 8,
  fulfillDirectRequisition: 8,
  refuseRequisition: 2,
};

export function plans(document: OpenApiDocument, vocabulary: Vocabulary): Arbitrary<Plan> {
  const conforming = new Conforming(document.components.schemas, vocabulary);
  const ofOperation = (operation: Operation): Arbitrary<Plan> => {
    const schema = operation.document.requestBody?.content['application/json'].schema;
    const body = schema === undefined ? fc.constant(undefined) : conforming.of(schema);
    return fc.record({
      operation: fc.constant(operation),
      speaker: fc.record({ right: mostly(0.8), pick: fc.nat(1_000) }),
      target: fc.record({ known: mostly(0.9), pick: fc.nat(1_000) }),
      query: queryOf(operation, conforming),
      body:
        operation.route.operation in TEMPLATES
          ? fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, body)
          : body,
      salt: fc.nat(0x7fffffff),
      twists: fc.oneof<MaybeWeightedArbitrary<Twist[]>[]>(
        { weight: 2, arbitrary: fc.constant([]) },
        { weight: 3, arbitrary: fc.tuple(twists) },
        { weight: 1, arbitrary: fc.array(twists, { minLength: 2, maxLength: 3 }) },
      ),
    });
  };
  const alternatives = operationsOf(document).map((operation) => ({
    weight: OFTEN[operation.route.operation] ?? 1,
    arbitrary: ofOperation(operation),
  }));
  return fc.oneof(...alternatives);
}

function mostly(probability: number): Arbitrary<boolean> {
  return fc.nat(99).map((n) => n < probability * 100);
}

function queryOf({ document }: Operation, conforming: Conforming): Arbitrary<Record<string, unknown>> {
  const entries = document.parameters
    .filter((parameter) => parameter.in === 'query')
    .map((parameter) => [parameter.name, parameterOf(parameter, conforming)]);
  return fc.record(Object.fromEntries(entries));
}

function parameterOf(
  { name, required, schema }: OpenApiParameter,
  conforming: Conforming,
): Arbitrary<unknown> {
  // Keep pages small, because large responses would be most of the work. Page tokens are drawn elsewhere, from earlier
  // responses.
  if (name === 'pageSize')
    return fc.oneof({ weight: 20, arbitrary: fc.integer({ min: 1, max: 3 }) }, fc.constantFrom(0, 50, 1_001));
  if (name === 'pageToken') return fc.constant(undefined);
  const value = conforming.of(schema);
  if (required) return value;
  return fc.option(value, { freq: name === 'validateOnly' ? 8 : 4, nil: undefined }).map((v) => v);
}

export function build(plan: Plan, state: State, material: Material): Built {
  const { operation, salt } = plan;
  const { route } = operation;
  const random = new Random(salt);
  const speaker = speakerOf(plan, state);
  const template = plan.body === undefined ? TEMPLATES[route.operation] : undefined;
  const filled = template?.(state, speaker, random, material);
  const name = filled?.name ?? resourceOf(plan, state, speaker);
  const query = Object.entries(plan.query).flatMap(([key, value]) =>
    [resolved(value, state, speaker)]
      .flat()
      .filter((v) => v !== undefined)
      .map((v): [string, string] => [key, String(v)]),
  );
  const isGuarded =
    state.guarded.has(name) && ['suspendParty', 'revokeCertificate'].includes(route.operation);
  if (isGuarded && !query.some(([key]) => key === 'validateOnly')) query.push(['validateOnly', 'true']);
  const guarded = query.map(([key, value]): [string, string] => [
    key,
    isGuarded && key === 'validateOnly' ? 'true' : value,
  ]);
  // Twists can change this body without changing the plan, because `resolved` makes a copy of the plan's body.
  const body = resolved(plan.body ?? filled?.body, state, speaker);
  const built: Built = {
    plan,
    speaker,
    filled,
    method: route.method,
    target: targetOf(route, name),
    query: guarded,
    token: speaker.token,
    // The exchange limits unknown callers by address, so each request of such a caller has a new address.
    headers: speaker.kind === undefined ? elsewhere() : {},
    mustReject: false,
    ignored: operation.ignored,
    inOrder: filled !== undefined && plan.speaker.right && plan.twists.length === 0,
    ...(body === undefined ? {} : { body }),
  };
  // Skip the twists that could remove or override `validateOnly`, which must stay in a guarded request.
  const applied = isGuarded
    ? plan.twists.filter(({ kind }) => kind !== 'oddParameter' && kind !== 'oddPath')
    : plan.twists;
  for (const twist of applied) applyTwist(built, twist, state);
  // A later twist may undo an earlier one, so the request may be valid again.
  if (applied.length > 1) built.mustReject = false;
  if (built.query.length > 0) {
    const pairs = built.query.map(
      ([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value.toWellFormed())}`,
    );
    built.target = `${built.target}?${pairs.join('&')}`;
  }
  // Node would drop a URL fragment, so encode the `#`.
  built.target = built.target.replaceAll('#', '%23');
  return built;
}

function speakerOf({ operation, speaker }: Plan, { speakers }: State): Speaker {
  const kinds = Object.keys(operation.row.may);
  const may = speakers.filter(({ kind }) => kind !== undefined && kinds.includes(kind));
  const list = speaker.right && may.length > 0 ? may : speakers;
  return list[speaker.pick % list.length]!;
}

/**
 * Returns the name of the resource in the path. For the path of a collection, returns the name of the collection's
 * parent. Returns '' if the path contains no resource.
 */
function resourceOf({ operation, speaker: { right }, target }: Plan, state: State, speaker: Speaker): string {
  const parts = operation.route.path.split('/').map((part) => (part.startsWith('{') ? '*' : part));
  const shape = (parts.length % 2 === 0 ? parts : parts.slice(0, -1)).join('/');
  if (shape === '') return '';
  const own = right && speaker.kind !== undefined && operation.row.may[speaker.kind] === 'own';
  const known = target.known ? state.nameOf(shape, target.pick, own ? speaker.name : undefined) : undefined;
  if (known !== undefined) return known;
  const [, ...rest] = shape.split('/*');
  return own
    ? `${speaker.name}${rest.join('/*').replaceAll('*', 'absent')}`
    : shape.replaceAll('*', 'absent');
}

function targetOf({ path, verb }: Route, name: string): string {
  const parts = path.split('/');
  const collection = parts.length % 2 === 1 ? parts.at(-1)! : '';
  return `/v2alpha/${[name, collection].filter((part) => part !== '').join('/')}${verb ? `:${verb}` : ''}`;
}

/** Replaces the references in a value with names of existing resources. */
function resolved(value: unknown, state: State, speaker: Speaker): unknown {
  const owner = speaker.name;
  if (value instanceof NameRef) return state.resolve(value, owner);
  if (value instanceof MapOf) {
    return Object.fromEntries(
      value.entries.map(([k, v]) => [String(resolved(k, state, speaker)), resolved(v, state, speaker)]),
    );
  }
  if (Array.isArray(value)) return value.map((one) => resolved(one, state, speaker));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, resolved(v, state, speaker)]));
}
