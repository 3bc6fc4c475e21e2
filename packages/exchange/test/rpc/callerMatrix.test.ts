/** Tests every caller on every RPC. The expected rights come from the table that the REST tests use. */
import type { DescMethod } from '@bufbuild/protobuf';
import { type Client, ConnectError } from '@connectrpc/connect';
import { ROUTES, type Route } from '@measurement-exchange/contract';
import {
  bindingOf,
  expected,
  knockOf,
  neverSelected,
  someTargets,
  type Target,
  targetsOf,
} from '@measurement-exchange/testkit/callers/cells';
import { MATRIX } from '@measurement-exchange/testkit/callers/rights';
import { type Caller, startWorld, type World } from '@measurement-exchange/testkit/callers/world';
import { isStress } from '@measurement-exchange/testkit/rounds';
import { clientOf, failureOf } from '@measurement-exchange/testkit/rpc';
import { selfSigned } from '@measurement-exchange/testkit/selfSigned';
import { castOf, ok, post, stored } from '@measurement-exchange/testkit/steps';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COVERED, METHODS, ROWS, type RpcRow, UNSERVED } from './callerRows.ts';

interface RpcCaller extends Caller {
  options: Parameters<typeof clientOf>[2];
}

let world: World;
let callers: RpcCaller[];
let before: Record<string, unknown>;

beforeAll(async () => {
  world = await startWorld();
  callers = await castCallers(world);
  before = await stored(world.exchange);
});
afterAll(async () => {
  expect(await world.exchange.stop()).toEqual([]);
});

/** Returns the callers of the REST tests, callers with client certificates or API keys, and a stranger. */
async function castCallers({ exchange, callers: byToken }: World): Promise<RpcCaller[]> {
  const { acme, globex, streamly, chirper } = castOf(exchange);
  const certified = [acme, streamly, chirper].map((party): RpcCaller => {
    const { clientCertificatePem: cert, clientPrivateKeyPem: key } = party;
    return { ...named(byToken, party.name, 'a client certificate'), options: { identity: { cert, key } } };
  });
  const keyed = [acme, globex].map(async (party): Promise<RpcCaller> => {
    const created = await ok(post(exchange, party, `${party.name}/apiKeys`, { displayName: 'Matrix' }));
    const headers = { 'x-api-key': created.authenticationKey as string };
    return { ...named(byToken, party.name, 'an API key'), options: { headers } };
  });
  const error = '401 TOKEN_INVALID';
  return [
    ...byToken.map((caller) => ({ ...caller, options: { token: caller.token } })),
    ...certified,
    ...(await Promise.all(keyed)),
    { title: 'a self-signed stranger', token: undefined, error, options: { identity: await selfSigned() } },
  ];
}

function named(byToken: Caller[], name: string, how: string): Caller {
  const caller = byToken.find(({ title }) => title === name)!;
  return { ...caller, title: `${name} with ${how}` };
}

const clients = new Map<string, Client<DescMethod['parent']>>();

function callOf({ title, options }: RpcCaller, method: DescMethod, request: object): Promise<unknown> {
  const key = `${title} ${method.parent.typeName}`;
  if (!clients.has(key)) clients.set(key, clientOf(world.exchange.dev, method.parent, options));
  const client = clients.get(key)! as unknown as Record<string, (request: object) => Promise<unknown>>;
  return client[method.localName]!(request);
}

/** Returns the outcome of a call. `brief` is `OK` or the code and the reason, and `whole` also contains the message. */
async function outcomeOf(call: Promise<unknown>): Promise<{ brief: string; whole: string }> {
  const error = await call.then(
    () => undefined,
    (thrown) => ConnectError.from(thrown),
  );
  if (error === undefined) return { brief: 'OK', whole: 'OK' };
  const [code, reason] = (await failureOf(Promise.reject(error))).split(' ');
  return { brief: `${code} ${reason}`, whole: `${code} ${reason} ${error.rawMessage}` };
}

const CODES: Record<string, string> = {
  '400': 'invalid_argument',
  '401': 'unauthenticated',
  '403': 'permission_denied',
  '404': 'not_found',
};

function expectedOf(row: RpcRow, route: Route, caller: Caller, target: Target): string {
  const seesOwn = row.ofConsumers && caller.kind === 'measurementConsumer' && !target.malformed;
  if (seesOwn) {
    const isOwn = caller.id === 'acme' && target.exists && target.owner !== '-';
    return isOwn ? 'OK' : 'not_found EVENT_GROUP_NOT_FOUND';
  }
  const wanted = expected(MATRIX[row.binding]!, route, caller, target);
  const isAllowed = /^(200|404)/.test(wanted);
  if (isAllowed && row.writes === 'invalid') return 'invalid_argument';
  if (wanted === '200') return 'OK';
  const [status, reason] = wanted.split(' ');
  return `${CODES[status!]} ${reason}`;
}

const rows = Object.entries(ROWS).flatMap(([name, each]) =>
  each.map((row) => [name, row.binding, row] as const),
);

const routeOf = (binding: string) => (ROUTES as readonly Route[]).find((one) => bindingOf(one) === binding)!;

/**
 * Returns a number that selects the targets that a caller requests in a row of the matrix. Returns undefined for every
 * second caller, which the row skips. The other callers get consecutive numbers.
 */
const turnOf = (row: number, caller: number) => ((row + caller) % 2 === 0 ? (row + caller) / 2 : undefined);

describe('the caller matrix', () => {
  it('has a row for every RPC', () => {
    expect([...Object.keys(ROWS), ...COVERED, ...UNSERVED].toSorted()).toEqual(
      [...METHODS.keys()].toSorted(),
    );
  });

  // In `npm run stress`, every caller requests every target. In other runs, each row tests a different selection of
  // callers and targets.
  it.each(rows.map((row, i) => [...row, i] as const))(
    'gives callers the same rights for %s as for %s',
    async (name, binding, row, i) => {
      const method = METHODS.get(name)!;
      const route = routeOf(binding);
      const rights = MATRIX[binding]!;
      const all = targetsOf(route);
      for (const [j, caller] of callers.entries()) {
        const turn = turnOf(i, j);
        if (!isStress && turn === undefined) continue;
        const denials = new Set<string>();
        const targets = isStress ? all : someTargets(rights, caller, all, turn!);
        const work = targets.map(async (target) => {
          const wanted = expectedOf(row, route, caller, target);
          if (row.writes === 'blind' && wanted === 'OK') return;
          const { brief, whole } = await outcomeOf(callOf(caller, method, requestOf(row, route, target)));
          const got = wanted === 'invalid_argument' ? brief.split(' ')[0] : brief;
          expect(`${caller.title} at ${target.title}: ${got}`).toBe(
            `${caller.title} at ${target.title}: ${wanted}`,
          );
          if (/^(unauthenticated|permission_denied)/.test(wanted)) denials.add(whole);
        });
        await Promise.all(work);
        // All denials must be the same. Otherwise a denial would reveal whether the target exists.
        expect(denials.size, caller.title).toBeLessThanOrEqual(1);
      }
    },
  );

  it('selects every target at least once for a caller without permission', () => {
    const turns = rows.flatMap(([, binding], i) =>
      callers.flatMap((caller, j) => {
        const turn = turnOf(i, j);
        const targets = targetsOf(routeOf(binding));
        return turn === undefined ? [] : [{ row: MATRIX[binding]!, caller, targets, turn }];
      }),
    );
    expect(neverSelected(turns)).toEqual([]);
  });

  it.each(UNSERVED)('expects UNIMPLEMENTED from %s for known callers, denial for others', async (name) => {
    for (const caller of callers) {
      const { brief } = await outcomeOf(callOf(caller, METHODS.get(name)!, {}));
      const known = caller.error === undefined;
      expect(brief, caller.title).toMatch(known ? /^unimplemented/ : /^(unauthenticated|permission_denied)/);
    }
  });

  it('leaves the stored data unchanged', async () => {
    expect(await stored(world.exchange)).toEqual(before);
  });
});

function requestOf(row: RpcRow, route: Route, target: Target): object {
  const { path, body } = knockOf(world, route, MATRIX[row.binding]!, target, false);
  const [verbatim, query] = path.split('?') as [string, string];
  const parts = verbatim.split(':')[0]!.split('/');
  // For a collection, use the name of its parent.
  const name = parts.slice(0, parts.length - (parts.length % 2)).join('/');
  const names = (body as { names?: string[] })?.names ?? new URLSearchParams(query).getAll('names');
  return row.request(name, names);
}
