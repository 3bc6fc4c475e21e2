/**
 * H11: every operation × every kind of caller × every kind of target, and bodies whose names disagree with the path.
 */
import { API_PREFIX, ROUTES, type Route } from '@measurement-exchange/contract';
import {
  bindingOf,
  elsewhere,
  expected,
  knockOf,
  type Target,
  targetsOf,
} from '@measurement-exchange/testkit/callers/cells';
import { MATRIX, type Row } from '@measurement-exchange/testkit/callers/rights';
import {
  type Caller,
  type World as Cast,
  fillWorld,
  WORLD_CONFIG,
} from '@measurement-exchange/testkit/callers/world';
import { errorModelProblems, fingerprint } from '@measurement-exchange/testkit/errorModel';
import { call, type Reply, type TestExchange } from '@measurement-exchange/testkit/exchange';
import { stored } from '@measurement-exchange/testkit/steps';
import { atScale, type Context, type Harness } from '../harness.ts';
import type { Random } from '../random.ts';
import { type Counted, type World, withWorld } from '../world.ts';
import { askWithForeignNames } from './foreignNames.ts';
import { inParallel, Line, percentile, type Sent } from './http.ts';

export const h11: Harness = {
  id: 'H11',
  title: 'every caller gets the expected response at every operation',
  run: (context) =>
    withWorld(context, { replicas: 1, config: WORLD_CONFIG }, (world) => askEverybody(context, world)),
};

const CONNECTIONS = 8;

interface Cell {
  route: Route;
  row: Row;
  caller: Caller;
  target: Target;
}

/** Receives each request and response, for a harness that also inspects the responses. */
export type Listener = (sent: Sent, response: Reply) => void;

export async function askEverybody(context: Context, world: World, listener?: Listener): Promise<Counted> {
  const cast = await fillWorld(asTestExchange(world));
  const line = new Line(cast.exchange.url, CONNECTIONS, listener);
  const before = await stored(cast.exchange);
  const matrix = new Matrix(cast, line, world, context.random);
  const routes = ROUTES as readonly Route[];
  // In a slice, try only a few routes to show that the harness works. Other tests cover every operation.
  const few = atScale(context, { slice: 6, short: routes.length, long: routes.length });
  const chosen = routes.filter((_, i) => i % Math.ceil(routes.length / few) === 0);
  const cells = chosen.flatMap((route) => cellsOf(route, cast));
  let done = 0;
  try {
    await inParallel(cells, CONNECTIONS, async (cell) => {
      await matrix.ask(cell);
      done += 1;
      context.progress(done, cells.length);
    });
    matrix.compareDenials();
    matrix.requests += await askWithForeignNames(cast, line, world.violations);
    await matrix.requireUntouched(before);
    const note = await compareTimes(cast, line, atScale(context, { slice: 40, short: 400, long: 4_000 }));
    return { operations: matrix.requests, faults: 0, notes: [`${cells.length} cells; ${note}`] };
  } finally {
    line.close();
    world.tally.serverErrors += line.serverErrors;
  }
}

/** Converts the first exchange of a world to the form that the test steps need. */
function asTestExchange(world: World): TestExchange {
  const { url, dev, dataDir } = world.exchanges[0]!;
  return {
    url,
    dev,
    dataDir,
    database: {
      url: world.postgres.url,
      query: (text, values) => world.postgres.query(text, values),
      drop: async () => {},
    },
    logs: async () => [],
    call: (token, method, path, body, headers) => call(token, method, `${url}${path}`, body, headers),
    stop: async () => [],
  };
}

function cellsOf(route: Route, { callers }: Cast): Cell[] {
  const row = MATRIX[bindingOf(route)];
  if (row === undefined) throw new Error(`${bindingOf(route)} has no row in the matrix.`);
  return callers.flatMap((caller) => targetsOf(route).map((target) => ({ route, row, caller, target })));
}

class Matrix {
  requests = 0;
  private readonly cast: Cast;
  private readonly line: Line;
  private readonly world: World;
  private readonly random: Random;
  /** The distinct denials by operation and caller. */
  private readonly denials = new Map<string, Set<string>>();

  constructor(cast: Cast, line: Line, world: World, random: Random) {
    this.cast = cast;
    this.line = line;
    this.world = world;
    this.random = random;
  }

  async ask(cell: Cell): Promise<void> {
    const { route, row, caller, target } = cell;
    const wanted = expected(row, route, caller, target);
    const knock = knockOf(this.cast, route, row, target, /^(200|404)/.test(wanted));
    const sent: Sent = {
      method: route.method,
      target: `${API_PREFIX}/${knock.path}`,
      headers: knock.headers,
      body: knock.body,
      token: caller.token,
    };
    this.judge(cell, sent, wanted, await this.send(sent));
    if (route.body === undefined) return;
    if (/^40[13]/.test(wanted)) {
      const variant = { ...sent, ...this.otherBody(cell), headers: elsewhere() };
      this.judge(cell, variant, wanted, await this.send(variant));
    } else if (wanted === '200') {
      // Also send a name in the body that differs from the path. The exchange must reject this request.
      const field = route.body.form === 'message' ? route.body.also : route.body.create ? 'parent' : 'name';
      const variant = { ...sent, body: { ...(knock.body ?? {}), [field]: 'dataProviders/elsewhere' } };
      this.judge(cell, variant, '400 INVALID_FIELD_VALUE', await this.send(variant));
    }
  }

  /** Returns a random other body. A denial must not depend on the body. */
  private otherBody({ caller }: Cell): Pick<Sent, 'body'> {
    const own = caller.kind === undefined ? 'operator' : `${caller.kind}s/${caller.id}`;
    return {
      body: this.random.pick<unknown>([
        { parent: own },
        { name: `${own}/measurements/m`, parent: own, names: [`${own}/measurements/m`] },
        '{"a":1,"a":',
        '[]',
        Buffer.from([0xff, 0x00]),
      ]),
    };
  }

  private judge({ route, caller, target }: Cell, sent: Sent, wanted: string, response: Reply): void {
    const at = `${bindingOf(route)}: ${caller.title} at ${target.title || 'it'}`;
    const got =
      response.status === 200 ? '200' : `${response.status} ${response.json?.error?.details?.[0]?.reason}`;
    if (got !== wanted) this.world.violations.add(`${at} got ${got} instead of ${wanted} (${sent.target})`);
    if (response.status === 200) return;
    for (const problem of errorModelProblems(response)) this.world.violations.add(`${at}: ${problem}`);
    if (!/^40[13]/.test(wanted)) return;
    const key = `${bindingOf(route)}: ${caller.title}`;
    this.denials.set(key, (this.denials.get(key) ?? new Set()).add(fingerprint(response)));
  }

  /** Checks that a denial does not reveal whether the target exists or whether the body was wrong. */
  compareDenials(): void {
    for (const [key, responses] of this.denials) {
      if (responses.size > 1) {
        this.world.violations.add(
          `${key} is denied in ${responses.size} different ways: ${[...responses].join(' or ')}`,
        );
      }
    }
  }

  /** Checks that the tables are unchanged. Denied requests change no rows, and allowed writes use validateOnly. */
  async requireUntouched(before: Record<string, unknown>): Promise<void> {
    const after = await stored(this.cast.exchange);
    for (const table of Object.keys(before)) {
      if (JSON.stringify(before[table]) !== JSON.stringify(after[table])) {
        this.world.violations.add(`The table ${table} changed, though nobody was allowed to change it.`);
      }
    }
  }

  private send(sent: Sent): Promise<Reply> {
    this.requests += 1;
    return this.line.send(sent);
  }
}

/**
 * Measures how long the exchange takes to deny requests for an existing measurement of another consumer, and requests
 * for an absent one. The times are only reported, because they vary on a busy machine.
 */
async function compareTimes({ callers, holdings }: Cast, line: Line, pairs: number): Promise<string> {
  const stranger = callers.find(({ title }) => title === 'measurementConsumers/globex')!;
  const existing = holdings['measurementConsumers/acme']!.ids.measurement!;
  const absent = `z${existing.slice(1)}`;
  const times: Record<string, number[]> = { existing: [], absent: [] };
  for (let i = 0; i < pairs * 2; i++) {
    // In the order A, B, B, A, a slow drift of the machine's speed affects both cases equally.
    const [kind, id] =
      i % 4 === 0 || i % 4 === 3 ? (['existing', existing] as const) : (['absent', absent] as const);
    const began = performance.now();
    await line.send({
      method: 'GET',
      target: `${API_PREFIX}/measurementConsumers/acme/measurements/${id}`,
      token: stranger.token,
    });
    times[kind]!.push((performance.now() - began) * 1000);
  }
  const [there, gone] = [times.existing!, times.absent!].map((list) => percentile(list, 0.5));
  return `a stranger waits ${there} µs for an existing and ${gone} µs for an absent measurement (median of ${pairs})`;
}
