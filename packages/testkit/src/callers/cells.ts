/** The cells of the caller matrix: caller, operation, owner of the target, and the expected response. */
import { API_PREFIX, type Route } from '@measurement-exchange/contract';
import { call, type Reply } from '../exchange.ts';
import type { Row } from './rights.ts';
import type { Caller, World } from './world.ts';

export const bindingOf = ({ method, path, verb }: Route) =>
  `${method} ${path.replace(/\{\w+\}/g, '*')}${verb === undefined ? '' : `:${verb}`}`;

/**
 * For each top-level collection, the IDs of two members that exist in the tests. If a member is a party, it also owns
 * resources that the tests request.
 */
const OWNERS: Record<string, [string, string]> = {
  measurementConsumers: ['acme', 'globex'],
  dataProviders: ['streamly', 'chirper'],
  duchies: ['acme', 'streamly'],
  populations: ['first', 'second'],
  principals: ['first', 'second'],
  trustedRoots: ['first', 'second'],
};
const NO_PARTY: Record<string, string> = {
  measurementConsumers: 'MEASUREMENT_CONSUMER_NOT_FOUND',
  dataProviders: 'DATA_PROVIDER_NOT_FOUND',
  duchies: 'DUCHY_NOT_FOUND',
};

export interface Target {
  title: string;
  /** The owner's ID in the path. */
  owner: string;
  exists: boolean;
  malformed?: boolean;
}

export function targetsOf(route: Route): Target[] {
  if (!route.path.includes('{')) return [{ title: '', owner: '', exists: true }];
  const [first, second] = OWNERS[route.path.split('/')[0]!]!;
  const targets: Target[] = [
    { title: 'an existing target of the first owner', owner: first, exists: true },
    { title: 'an absent target of the first owner', owner: first, exists: false },
    { title: 'an existing target of the second owner', owner: second, exists: true },
    { title: 'an absent target of the second owner', owner: second, exists: false },
    { title: 'a target of an absent owner', owner: 'nobody', exists: false },
    { title: 'a target under the wildcard', owner: '-', exists: true },
    { title: 'a target of a malformed owner', owner: `${first}%2Fx`, exists: true, malformed: true },
    { title: 'a target of an owner in upper case', owner: first.toUpperCase(), exists: false },
  ];
  // If the path ends with the owner's ID, the owner itself is the target. The first and the second owner always exist,
  // so leave out the targets in which one of them is absent.
  const isOwner = route.path.split('/').length === 2;
  return isOwner
    ? targets.filter(({ owner, exists }) => exists || ![first, second].includes(owner))
    : targets;
}

/**
 * Selects the targets that a caller tests, so that not every caller tests every target. If the caller is the first
 * owner and may call the operation, it tests all targets. In all other cases, it tests the targets that it owns, and
 * the following targets, some of which can be its own:
 * - two targets if it may call the operation
 * - one target if it may not call the operation and is the operator
 * - one target in every third turn if it may not call the operation and is not the operator
 *
 * `turn` determines the targets of this list. Consecutive turns go through all targets in a cycle. Stress runs do not
 * call this function, and test all targets.
 */
export function someTargets(row: Row, caller: Caller, targets: Target[], turn: number): Target[] {
  const right = caller.kind && row.may[caller.kind];
  if (right !== undefined && targets[0]!.owner === caller.id) return targets;
  const every = right !== undefined || caller.kind === 'operator' ? 1 : 3;
  const count = right !== undefined ? 2 : turn % every === 0 ? 1 : 0;
  const first = Math.floor(turn / every);
  return targets.filter(({ owner }, i) => owner === caller.id || (i + first) % targets.length < count);
}

/** The arguments of one call of `someTargets`. */
export interface Turn {
  row: Row;
  caller: Caller;
  targets: Target[];
  turn: number;
}

/**
 * Considers only the turns in which the caller is not the operator and may not call the operation. Returns the titles
 * of the targets that `someTargets` selects in none of these turns. Each title ends with the operation's number of
 * targets. Operations with different numbers of targets are therefore checked separately.
 */
export function neverSelected(turns: readonly Turn[]): string[] {
  const denied = turns.filter(({ row, caller: { kind } }) => kind !== 'operator' && !(kind && row.may[kind]));
  const titlesOf = (of: (one: Turn) => Target[]) =>
    new Set(denied.flatMap((one) => of(one).map(({ title }) => `${title}, 1 of ${one.targets.length}`)));
  const selected = titlesOf(({ row, caller, targets, turn }) => someTargets(row, caller, targets, turn));
  return [...titlesOf(({ targets }) => targets).difference(selected)];
}

/** Returns the expected status, such as `200`. For an error, also returns the reason, as in `403 PERMISSION_DENIED`. */
export function expected(row: Row, route: Route, caller: Caller, target: Target): string {
  if (caller.error !== undefined) return caller.error;
  if (target.malformed) return '400 MALFORMED_NAME';
  const right = row.may[caller.kind!];
  const allowed =
    right === 'own'
      ? target.owner === caller.id
      : right === 'any'
        ? target.owner !== '-'
        : right !== undefined;
  if (!allowed) return '403 PERMISSION_DENIED';
  if (target.exists) return '200';
  if (row.absent !== undefined) return `404 ${row.absent}`;
  // The target is a collection, and only its parent can be absent.
  const known = OWNERS[route.path.split('/')[0]!]!.includes(target.owner);
  return known ? '200' : `404 ${NO_PARTY[route.path.split('/')[0]!]}`;
}

let addresses = 0;

/** The request that tests a cell. `path` is relative to the API prefix. */
export interface Knock {
  path: string;
  body: object | undefined;
  headers: Record<string, string>;
}

/**
 * Builds the request that tests a cell. A write that the caller may do is sent with validateOnly, so that it changes
 * nothing.
 */
export function knockOf(world: World, route: Route, row: Row, target: Target, mayWrite: boolean): Knock {
  const [collection] = route.path.split('/') as [string];
  const holder = target.owner === OWNERS[collection]?.[1] ? OWNERS[collection][1] : OWNERS[collection]?.[0];
  const { ids = {}, bodies = {} } = world.holdings[`${collection}/${holder}`] ?? {};
  const idOf = (key: string) => (target.exists ? (ids[`${route.operation}.${key}`] ?? ids[key]!) : 'absent');
  let isOwner = true;
  const path = route.path.replace(/\{(\w+)\}/g, (_, key: string) => {
    const id = isOwner ? target.owner : idOf(key);
    isOwner = false;
    return id;
  });
  const query = new URLSearchParams();
  let body: object | undefined = bodies[route.operation] ?? world.bodies[route.operation];
  if (row.names !== undefined) {
    const child = collection === 'dataProviders' ? 'eventGroupMetadataDescriptor' : 'measurement';
    const parent = target.owner === '-' ? holder : target.owner;
    const name = `${collection}/${parent}/${child}s/${idOf(child)}`;
    if (row.names === 'query') query.append('names', name);
    else body = { names: [name] };
  }
  if (route.mutates && mayWrite) query.append('validateOnly', 'true');
  return { path: `${path}${route.verb ? `:${route.verb}` : ''}?${query}`, body, headers: elsewhere() };
}

/** Returns a header with a new client address, because the exchange limits the number of invalid tokens per address. */
export function elsewhere(): Record<string, string> {
  addresses += 1;
  return { 'x-forwarded-for': `10.${addresses >> 16}.${(addresses >> 8) & 255}.${addresses & 255}` };
}

/** Sends the request of a cell. */
export function knock(
  world: World,
  route: Route,
  row: Row,
  caller: Caller,
  target: Target,
  mayWrite: boolean,
): Promise<Reply> {
  const { path, body, headers } = knockOf(world, route, row, target, mayWrite);
  const url = `${world.exchange.url}${API_PREFIX}/${path}`;
  return call(caller.token, route.method, url, body, headers);
}
