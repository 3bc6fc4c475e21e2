/**
 * H13: requests drawn from the OpenAPI document: valid, wrong in one respect, or hostile. They use resources that
 * earlier requests created.
 */
import { openApiDocument } from '@measurement-exchange/contract';
import { DESCRIPTOR_SET, WORLD_CONFIG } from '@measurement-exchange/testkit/callers/world';
import type { Reply } from '@measurement-exchange/testkit/exchange';
import { jws } from '@measurement-exchange/testkit/issuer';
import { toJson } from '@measurement-exchange/testkit/requests';
import fc, { type Arbitrary, Random as Draws, type Value } from 'fast-check';
import { atScale, type Context, type Harness } from '../harness.ts';
import type { Random } from '../random.ts';
import { type Counted, type World, withWorld } from '../world.ts';
import { followUps } from './fuzz/followUps.ts';
import { Judge } from './fuzz/judge.ts';
import { type Built, build, operationsOf, type Plan, plans } from './fuzz/plan.ts';
import type { Vocabulary } from './fuzz/schemas.ts';
import { State } from './fuzz/state.ts';
import { type Material, prepareMaterial } from './fuzz/templates.ts';
import { Line } from './http.ts';
import type { Listener } from './matrix.ts';
import { issuerOf } from './tokens.ts';

export const h13: Harness = {
  id: 'H13',
  title: 'random requests from the OpenAPI document get documented responses',
  run: (context) =>
    withWorld(context, { replicas: 1, config: WORLD_CONFIG }, (world) => fuzz(context, world)),
};

const CONNECTIONS = 16;
/** The maximum number of smaller plans to try for one finding. */
const SHRINKS = 60;
const SHRUNK_FINDINGS = 5;

interface FuzzOptions {
  /** The number of requests. By default the scale decides. */
  requests?: number;
  /** The mark that is put into all secret bytes, such as ciphertexts. */
  canary?: string;
  onNonce?: (nonce: bigint) => void;
  listener?: Listener;
}

export async function fuzz(context: Context, world: World, options: FuzzOptions = {}): Promise<Counted> {
  const { canary = 'fuzz-', onNonce = () => {}, listener } = options;
  const total = options.requests ?? atScale(context, { slice: 1_500, short: 20_000, long: 500_000 });
  const { url, dev } = world.exchanges[0]!;
  const document = openApiDocument({ version: '0' });
  const state = new State(dev, { garbage: 'garbage', unmapped: unmappedToken(world) });
  const line = new Line(url, CONNECTIONS, listener);
  const judge = new Judge(document, operationsOf(document), state);
  const material = await prepareMaterial({ canary, onNonce });
  const fuzzer = new Fuzzer(
    context,
    world,
    line,
    judge,
    state,
    material,
    plans(document, vocabularyOf(canary)),
  );
  const began = performance.now();
  try {
    await fuzzer.run(total);
  } finally {
    line.close();
    world.tally.serverErrors += line.serverErrors;
  }
  const perSecond = Math.round(fuzzer.requests / ((performance.now() - began) / 1000));
  world.tally.fuzzRequests += fuzzer.requests;
  const statuses = [...judge.statuses]
    .sort(([a], [b]) => a - b)
    .map(([status, count]) => `${status}: ${count}`);
  return {
    operations: fuzzer.requests,
    faults: 0,
    notes: [
      `${perSecond} requests/s over ${CONNECTIONS} connections; responses ${statuses.join(', ')}; ` +
        `${judge.granted.size} of ${judge.operationCount} operations granted`,
    ],
  };
}

class Fuzzer {
  requests = 0;
  private cases = 0;
  /** True when the exchange no longer listens. The fuzzer then stops, and the world reports the reason. */
  private gone = false;
  private readonly context: Context;
  private readonly world: World;
  private readonly line: Line;
  private readonly judge: Judge;
  private readonly state: State;
  private readonly material: Material;
  private readonly arbitrary: Arbitrary<Plan>;
  private readonly found = new Set<string>();

  constructor(
    context: Context,
    world: World,
    line: Line,
    judge: Judge,
    state: State,
    material: Material,
    arbitrary: Arbitrary<Plan>,
  ) {
    this.context = context;
    this.world = world;
    this.line = line;
    this.judge = judge;
    this.state = state;
    this.material = material;
    this.arbitrary = arbitrary;
  }

  async run(total: number): Promise<void> {
    const enough = () =>
      this.requests >= total ||
      this.gone ||
      (this.context.planted !== undefined && this.world.violations.any);
    const one = async () => {
      while (!enough()) {
        const number = this.cases++;
        // Each case has its own random stream, so a seed and a case number reproduce its random choices.
        const value = this.arbitrary.generate(draws(this.context.random.fork(`case ${number}`)), undefined);
        const played = await this.play(value.value);
        if (played.problems.length > 0) await this.report(number, value, played);
        this.context.progress(this.requests, total);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, one));
  }

  /**
   * Sends the request of a plan and, if the response has the status 200, its follow-up requests. Returns the problems
   * of all these requests.
   */
  private async play(plan: Plan): Promise<Played> {
    const sent = build(plan, this.state, this.material);
    const { response, problems } = await this.send(sent);
    if (response.status === 200) {
      for await (const problem of followUps(sent, response, this.state, (next) => this.send(next)))
        problems.push(problem);
    }
    return { sent, response, problems };
  }

  private async send(sent: Built): Promise<Played> {
    this.requests += 1;
    const sentAt = performance.now();
    const response = await this.line.send(sent);
    if (response.text.includes('ECONNREFUSED')) this.gone = true;
    return { sent, response, problems: this.judge.problemsOf(sent, response, sentAt) };
  }

  private async report(number: number, value: Value<Plan>, first: Played): Promise<void> {
    const kind = kindOf(first);
    if (this.found.has(kind)) return;
    this.found.add(kind);
    const { sent, response, problems } =
      this.found.size > SHRUNK_FINDINGS ? first : await this.shrink(value, first, kind);
    const body = sent.body === undefined ? '' : ` ${text(sent.body).slice(0, 300)}`;
    const who = sent.speaker.name || 'a stranger';
    this.world.violations.add(
      `${sent.method} ${sent.target.slice(0, 300)}${body} as ${who}: ${problems.join('; ')}`,
    );
    this.context.save(`request-${number}.json`, {
      problems,
      request: {
        method: sent.method,
        target: sent.target,
        who,
        headers: sent.headers,
        body: text(sent.body ?? ''),
      },
      response: { status: response.status, headers: [...response.headers], text: response.text },
      case: number,
      firstRequest: {
        method: first.sent.method,
        target: first.sent.target,
        body: text(first.sent.body ?? ''),
      },
    });
  }

  /**
   * Tries smaller plans, at most SHRINKS in total. If a plan leads to a finding of the given kind, the next plans are
   * smaller forms of that plan. Returns the outcome of the last plan with such a finding, or `first` if no smaller plan
   * has one.
   */
  private async shrink(value: Value<Plan>, first: Played, kind: string): Promise<Played> {
    let smallest = first;
    let candidates = this.arbitrary.shrink(value.value_, value.context);
    for (let spent = 0; spent < SHRINKS; spent++) {
      const next = candidates.next();
      if (next.done) break;
      const played = await this.play(next.value.value);
      if (kindOf(played) !== kind) continue;
      smallest = played;
      candidates = this.arbitrary.shrink(next.value.value_, next.value.context);
    }
    return smallest;
  }
}

interface Played {
  sent: Built;
  response: Reply;
  problems: string[];
}

/** The kind of a finding. Findings that differ only in names and numbers are of the same kind. */
function kindOf({ sent, problems }: Played): string {
  const [first = ''] = problems;
  return `${sent.plan.operation.route.operation} ${first.replace(/\w+\/[\w/-]+|\d+/g, '…').slice(0, 80)}`;
}

function text(body: unknown): string {
  return typeof body === 'string'
    ? body
    : Buffer.isBuffer(body)
      ? `base64 ${body.toString('base64')}`
      : toJson(body);
}

/** Adapts the rig's random generator to the interface of fast-check. */
function draws(random: Random): Draws {
  const generator = { next: () => random.bits() | 0, clone: () => generator, getState: () => [] };
  return new Draws(generator);
}

/**
 * Harmless keys for arbitrary JSON. The name of a rejected field may appear in an error, so keys carry no secret mark.
 */
const keys = fc.constantFrom(
  'file',
  'name',
  'package',
  'messageType',
  'field',
  '@type',
  'typeUrl',
  'value',
  'a',
  'é',
);

function vocabularyOf(canary: string): Vocabulary {
  const marker = Buffer.from(canary);
  return {
    anything: fc.oneof(
      fc.constant(DESCRIPTOR_SET),
      fc.record({
        file: fc.array(fc.dictionary(keys, fc.jsonValue({ maxDepth: 1, noUnicodeString: true } as object)), {
          maxLength: 2,
        }),
      }),
      fc.dictionary(keys, fc.oneof(fc.string(), fc.integer(), fc.constant(null)), { maxKeys: 4 }),
      fc.base64String({ maxLength: 200 }),
    ),
    bytes: (min) =>
      fc.uint8Array({ minLength: min, maxLength: 60 }).map((bytes) => Buffer.concat([marker, bytes])),
  };
}

/** A valid token of a party that the exchange does not know. */
function unmappedToken(world: World): string {
  const { key, issuer, audience } = issuerOf(world);
  const now = Math.floor(Date.now() / 1000);
  const name = 'measurementConsumers/nobody';
  return jws(key, {
    iss: issuer,
    aud: audience,
    sub: name,
    mex_principal: name,
    iat: now,
    exp: now + 12 * 3600,
  });
}
