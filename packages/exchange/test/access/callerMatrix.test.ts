import { ROUTES, type Route } from '@measurement-exchange/contract';
import {
  bindingOf,
  expected,
  knock,
  neverSelected,
  someTargets,
  targetsOf,
} from '@measurement-exchange/testkit/callers/cells';
import { MATRIX } from '@measurement-exchange/testkit/callers/rights';
import { startWorld, type World } from '@measurement-exchange/testkit/callers/world';
import { checkedErrorOf, fingerprint } from '@measurement-exchange/testkit/errorModel';
import { isStress } from '@measurement-exchange/testkit/rounds';
import { castOf, stored } from '@measurement-exchange/testkit/steps';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let world: World;
/** The stored data before the requests. The requests of this file must not change it. */
let before: Record<string, unknown>;
beforeAll(async () => {
  world = await startWorld();
  before = await stored(world.exchange);
});
afterAll(async () => {
  expect(await world.exchange.stop()).toEqual([]);
});

describe('the caller matrix', () => {
  it('has exactly one row for each binding that is served', () => {
    expect(Object.keys(MATRIX).sort()).toEqual((ROUTES as readonly Route[]).map(bindingOf).sort());
  });

  // With `npm run stress`, every caller requests every target of every route. In other runs, the test of each route
  // requests only some targets, and different routes select different targets.
  it.each((ROUTES as readonly Route[]).map((route, i) => [bindingOf(route), route, i] as const))(
    'determines whether each caller is allowed or denied: %s',
    async (binding, route, i) => {
      const row = MATRIX[binding]!;
      const all = targetsOf(route);
      for (const [j, caller] of world.callers.entries()) {
        const denials = new Set<string>();
        for (const target of isStress ? all : someTargets(row, caller, all, i + j)) {
          const wanted = expected(row, route, caller, target);
          const reply = await knock(world, route, row, caller, target, /^(200|404)/.test(wanted));
          const got = reply.status === 200 ? '200' : checkedErrorOf(reply);
          expect(`${caller.title} at ${target.title}: ${got}`).toBe(
            `${caller.title} at ${target.title}: ${wanted}`,
          );
          if (/^40[13]/.test(wanted)) denials.add(fingerprint(reply));
        }
        // All denials must be the same, so that a denial does not reveal whether the target exists.
        expect(denials.size, caller.title).toBeLessThanOrEqual(1);
      }
      if (isStress) expect(await stored(world.exchange)).toEqual(before);
    },
  );

  it('requests every target as a caller without access', () => {
    const turns = (ROUTES as readonly Route[]).flatMap((route, i) =>
      world.callers.map((caller, j) => {
        return { row: MATRIX[bindingOf(route)]!, caller, targets: targetsOf(route), turn: i + j };
      }),
    );
    expect(neverSelected(turns)).toEqual([]);
  });

  it('changes no stored data', async () => {
    expect(await stored(world.exchange)).toEqual(before);
  });

  it('does not compile a route without `access`', () => {
    const { access: _access, ...rest } = ROUTES[0];
    // @ts-expect-error: `access` is a required property of a Route.
    const route: Route = rest;
    expect(route.access).toBeUndefined();
  });
});

describe('a denial', () => {
  it('does not depend on the body or the query', async () => {
    const { exchange } = world;
    const { globex } = castOf(exchange);
    const paths = [
      'measurementConsumers/acme/measurements',
      'measurementConsumers/acme/measurements:batchGet',
    ];
    for (const path of paths) {
      const replies = await Promise.all([
        exchange.call(globex.token, 'POST', `/v2alpha/${path}`, {}),
        exchange.call(globex.token, 'POST', `/v2alpha/${path}`, '{"a":1,"a":'),
        exchange.call(globex.token, 'POST', `/v2alpha/${path}?nonsense=1`, 'text', {
          'content-type': 'text/plain',
        }),
      ]);
      expect(replies.map(checkedErrorOf)).toEqual(replies.map(() => '403 PERMISSION_DENIED'));
      expect(new Set(replies.map(fingerprint)).size).toBe(1);
    }
  });

  // The wildcard `-` belongs to no party, so a path that contains it is denied even below the caller's own name.
  it('also applies to the wildcard below the name of an owner', async () => {
    const { exchange } = world;
    const { acme, streamly } = castOf(exchange);
    for (const [party, path] of [
      [acme, `${acme.name}/measurements/-`],
      [acme, `${acme.name}/measurements/-/requisitions`],
      [acme, `${streamly.name}/eventGroupMetadataDescriptors/-`],
      [streamly, `${streamly.name}/requisitions/-`],
    ] as const) {
      expect(checkedErrorOf(await exchange.call(party.token, 'GET', `/v2alpha/${path}`))).toBe(
        '403 PERMISSION_DENIED',
      );
    }
  });
});
