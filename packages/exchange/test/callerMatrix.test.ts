import { API_PREFIX, ROUTES, type Route } from '@measurement-exchange/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Caller, startWorld, type World } from './callerMatrixWorld.ts';
import { MATRIX, type Row } from './callerRights.ts';
import { fingerprint, refusalOf } from './errorModel.ts';
import { type Answer, call } from './harness.ts';
import { castOf, stored } from './steps.ts';

const bindingOf = ({ method, path, verb }: Route) =>
  `${method} ${path.replace(/\{\w+\}/g, '*')}${verb === undefined ? '' : `:${verb}`}`;

/** The two owners of each collection who have something. */
const OWNERS: Record<string, [string, string]> = {
  measurementConsumers: ['acme', 'globex'],
  dataProviders: ['streamly', 'chirper'],
  duchies: ['acme', 'streamly'],
  principals: ['first', 'second'],
  trustedRoots: ['first', 'second'],
};
const NO_PARTY: Record<string, string> = {
  measurementConsumers: 'MEASUREMENT_CONSUMER_NOT_FOUND',
  dataProviders: 'DATA_PROVIDER_NOT_FOUND',
  duchies: 'DUCHY_NOT_FOUND',
};

interface Target {
  title: string;
  /** The ID of the owner as it stands in the path. */
  owner: string;
  exists: boolean;
  malformed?: boolean;
}

function targetsOf(route: Route): Target[] {
  if (!route.path.includes('{')) return [{ title: '', owner: '', exists: true }];
  const [first, second] = OWNERS[route.path.split('/')[0]!]!;
  const targets: Target[] = [
    { title: 'an existing one of the first owner', owner: first, exists: true },
    { title: 'an absent one of the first owner', owner: first, exists: false },
    { title: 'an existing one of the second owner', owner: second, exists: true },
    { title: 'an absent one of the second owner', owner: second, exists: false },
    { title: 'one of an absent owner', owner: 'nobody', exists: false },
    { title: 'one under the wildcard', owner: '-', exists: true },
    { title: 'one of a malformed owner', owner: `${first}%2Fx`, exists: true, malformed: true },
    { title: 'one of an owner in another case', owner: first.toUpperCase(), exists: false },
  ];
  // Where the owner is all that the path names, what exists depends on the owner alone.
  const isOwner = route.path.split('/').length === 2;
  return isOwner
    ? targets.filter(({ owner, exists }) => exists || ![first, second].includes(owner))
    : targets;
}

/** `200`, or the status and the reason that the contract asks for. */
function expected(row: Row, route: Route, caller: Caller, target: Target): string {
  if (caller.refusal !== undefined) return caller.refusal;
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
  // A collection: only its parent can be absent.
  const known = OWNERS[route.path.split('/')[0]!]!.includes(target.owner);
  return known ? '200' : `404 ${NO_PARTY[route.path.split('/')[0]!]}`;
}

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  expect(await world.exchange.stop()).toEqual([]);
});

let addresses = 0;

/** The call of a cell. What would be allowed to write only asks whether it could. */
function knock(route: Route, row: Row, caller: Caller, target: Target, mayWrite: boolean): Promise<Answer> {
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
  addresses += 1;
  const from = `10.${addresses >> 16}.${(addresses >> 8) & 255}.${addresses & 255}`;
  const url = `${world.exchange.url}${API_PREFIX}/${path}${route.verb ? `:${route.verb}` : ''}?${query}`;
  return call(caller.token, route.method, url, body, { 'x-forwarded-for': from });
}

describe('every caller at every operation', () => {
  it('has a row in the matrix for each binding that is served, and none besides', () => {
    expect(Object.keys(MATRIX).sort()).toEqual((ROUTES as readonly Route[]).map(bindingOf).sort());
  });

  it.each((ROUTES as readonly Route[]).map((route) => [bindingOf(route), route] as const))(
    '%s',
    async (binding, route) => {
      const row = MATRIX[binding]!;
      const before = await stored(world.exchange);
      for (const caller of world.callers) {
        const denials = new Set<string>();
        for (const target of targetsOf(route)) {
          const wanted = expected(row, route, caller, target);
          const answer = await knock(route, row, caller, target, /^(200|404)/.test(wanted));
          const got = answer.status === 200 ? '200' : refusalOf(answer);
          expect(`${caller.title} at ${target.title}: ${got}`).toBe(
            `${caller.title} at ${target.title}: ${wanted}`,
          );
          if (/^40[13]/.test(wanted)) denials.add(fingerprint(answer));
        }
        // Nobody learns from a denial whether what was asked for exists.
        expect(denials.size, caller.title).toBeLessThanOrEqual(1);
      }
      expect(await stored(world.exchange)).toEqual(before);
    },
  );

  it('a row without access is not a route', () => {
    const { access: _access, ...rest } = ROUTES[0];
    // @ts-expect-error this line compiles only as long as a Route must say who may call it
    const route: Route = rest;
    expect(route.access).toBeUndefined();
  });
});

describe('before anything else is looked at', () => {
  it('a denial does not depend on the body or the query', async () => {
    const { exchange } = world;
    const { globex } = castOf(exchange);
    const paths = [
      'measurementConsumers/acme/measurements',
      'measurementConsumers/acme/measurements:batchGet',
    ];
    for (const path of paths) {
      const answers = await Promise.all([
        exchange.call(globex.token, 'POST', `/v2alpha/${path}`, {}),
        exchange.call(globex.token, 'POST', `/v2alpha/${path}`, '{"a":1,"a":'),
        exchange.call(globex.token, 'POST', `/v2alpha/${path}?nonsense=1`, 'text', {
          'content-type': 'text/plain',
        }),
      ]);
      expect(answers.map(refusalOf)).toEqual(answers.map(() => '403 PERMISSION_DENIED'));
      expect(new Set(answers.map(fingerprint)).size).toBe(1);
    }
  });

  // The contract: `-` belongs to nobody, wherever it stands. Today only the owner's place is looked at, and these
  // are answered with 404.
  it('the wildcard is denied below an owner, too', async () => {
    const { exchange } = world;
    const { acme, streamly } = castOf(exchange);
    for (const [party, path] of [
      [acme, `${acme.name}/measurements/-`],
      [acme, `${acme.name}/measurements/-/requisitions`],
      [acme, `${streamly.name}/eventGroupMetadataDescriptors/-`],
      [streamly, `${streamly.name}/requisitions/-`],
    ] as const) {
      expect(refusalOf(await exchange.call(party.token, 'GET', `/v2alpha/${path}`))).toBe(
        '403 PERMISSION_DENIED',
      );
    }
  });
});
