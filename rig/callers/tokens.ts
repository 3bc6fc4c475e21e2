/** H12: tokens that are invalid in every known way, at three endpoints, and random mutations of a valid token. */
import { createPrivateKey, type JsonWebKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { DEV_AUDIENCE, devKeyFile } from '@measurement-exchange/exchange/devIssuer';
import { elsewhere } from '@measurement-exchange/testkit/callers/cells';
import { WORLD_CONFIG } from '@measurement-exchange/testkit/callers/world';
import { errorModelProblems, fingerprint } from '@measurement-exchange/testkit/errorModel';
import type { Reply } from '@measurement-exchange/testkit/exchange';
import { jws, type SigningKey } from '@measurement-exchange/testkit/issuer';
import { bytesOf, send } from '@measurement-exchange/testkit/rawHttp';
import { atScale, type Context, type Harness } from '../harness.ts';
import type { Random } from '../random.ts';
import { type Counted, type World, withWorld } from '../world.ts';
import { inParallel, Line, type Sent } from './http.ts';
import type { Listener } from './matrix.ts';
import { goodClaims, type Issuer } from './tokens/base.ts';
import { type CorpusEntry, tokenCorpus } from './tokens/corpus.ts';

export const h12: Harness = {
  id: 'H12',
  title: 'invalid tokens of every known kind are rejected with the same response',
  run: (context) =>
    withWorld(context, { replicas: 1, config: WORLD_CONFIG }, (world) => tryTokens(context, world)),
};

const CONNECTIONS = 8;

/**
 * `good` is the status of the response to a valid token. The exchange checks the token before it reads the body. The
 * POST, whose body lacks required fields, therefore gets 400 with a valid token, and 401 with an invalid token.
 */
const ENDPOINTS = [
  { method: 'GET', path: 'whoami', good: 200 },
  { method: 'GET', path: 'measurementConsumers/acme/measurements?pageSize=1', good: 200 },
  { method: 'POST', path: 'measurementConsumers/acme/measurements', body: {}, good: 400 },
];

export async function tryTokens(
  context: Context,
  world: World,
  options: { canary?: string; listener?: Listener } = {},
): Promise<Counted> {
  const { url } = world.exchanges[0]!;
  const line = new Line(url, CONNECTIONS, options.listener);
  const issuer = issuerOf(world);
  const mutations = atScale(context, { slice: 150, short: 3_000, long: 30_000 });
  const corpus = tokenCorpus(issuer, options.canary);
  const total = corpus.length * ENDPOINTS.length + mutations;
  let done = 0;
  let one: string | undefined;
  const judge = ({ title, good }: CorpusEntry, endpoint: (typeof ENDPOINTS)[number], response: Reply) => {
    const at = `${title} at ${endpoint.method} ${endpoint.path}`;
    const wanted = good ? endpoint.good : 401;
    if (response.status !== wanted)
      world.violations.add(`${at} got ${response.status} instead of ${wanted}: ${response.text}`);
    if (response.status !== 200)
      for (const problem of errorModelProblems(response)) world.violations.add(`${at}: ${problem}`);
    if (wanted !== 401) return;
    // All invalid tokens must get the same response, including headers.
    one ??= fingerprint(response);
    if (fingerprint(response) !== one)
      world.violations.add(`${at} gets another response: ${fingerprint(response)}`);
  };
  function* attempts() {
    for (const entry of corpus) for (const endpoint of ENDPOINTS) yield { entry, endpoint };
    yield* mutated(issuer, mutations, context.random, options.canary);
  }
  try {
    await inParallel(attempts(), CONNECTIONS, async ({ entry, endpoint }) => {
      const { method, path, body } = endpoint;
      const target = `/v2alpha/${path}`;
      const { authorization } = entry;
      judge(
        entry,
        endpoint,
        await ask(line, url, { method, target, body, headers: { ...elsewhere(), authorization } }),
      );
      done += 1;
      context.progress(done, total);
    });
    await tryMisplaced(world, line, issuer);
  } finally {
    line.close();
    world.tally.serverErrors += line.serverErrors;
  }
  return {
    operations: done + 3,
    faults: 0,
    notes: [`${corpus.length} tokens at ${ENDPOINTS.length} endpoints, ${mutations} mutations of a good one`],
  };
}

/**
 * Sends a request. Uses a raw socket if the token contains control characters or non-ASCII text, because Node's HTTP
 * client rejects some of these characters.
 */
async function ask(line: Line, url: string, sent: Sent): Promise<Reply> {
  const { authorization, ...others } = sent.headers as Record<string, string>;
  if (/^[\t\x20-\x7e]*$/.test(authorization!)) return line.send(sent);
  const headers = Object.entries({ ...others, authorization }).map(([name, value]) => `${name}: ${value}`);
  const body = sent.body === undefined ? undefined : JSON.stringify(sent.body);
  const json = body === undefined ? [] : ['content-type: application/json'];
  const request = bytesOf(sent.method, sent.target, {
    headers: [...headers, ...json],
    ...(body && { body }),
  });
  return send(url, request);
}

/**
 * Sends a valid token in wrong places, and in two Authorization headers. The exchange must reject each of these
 * requests.
 */
async function tryMisplaced({ violations, exchanges }: World, line: Line, issuer: Issuer): Promise<void> {
  const token = good(issuer);
  const { url } = exchanges[0]!;
  const wrong: [title: string, wanted: number, response: Promise<Reply>][] = [
    [
      'in the query',
      401,
      line.send({ method: 'GET', target: `/v2alpha/whoami?access_token=${token}`, headers: elsewhere() }),
    ],
    [
      'in a cookie',
      401,
      line.send({
        method: 'GET',
        target: '/v2alpha/whoami',
        headers: { ...elsewhere(), cookie: `authorization=Bearer ${token}; token=${token}` },
      }),
    ],
    [
      'given twice',
      400,
      send(url, bytesOf('GET', '/v2alpha/whoami', { token, headers: [`Authorization: Bearer ${token}`] })),
    ],
  ];
  for (const [title, wanted, response] of wrong) {
    const { status, text } = await response;
    if (status !== wanted)
      violations.add(`A good token ${title} got ${status} instead of ${wanted}: ${text}`);
  }
}

export function issuerOf(world: World): Issuer {
  const { dataDir, url, dev } = world.exchanges[0]!;
  const jwk = JSON.parse(readFileSync(devKeyFile(dataDir), 'utf8')) as JsonWebKey & { kid: string };
  const { d: _secret, ...publicJwk } = jwk;
  const key = {
    kid: jwk.kid,
    alg: 'ES256',
    privateKey: createPrivateKey({ key: jwk, format: 'jwk' }),
    publicJwk,
  };
  return {
    key: key as SigningKey,
    issuer: `${url}/dev`,
    audience: DEV_AUDIENCE,
    subject: dev.measurementConsumers[0]!.name,
  };
}

function good(issuer: Issuer, canary?: string): string {
  return jws(issuer.key, goodClaims(issuer, Math.floor(Date.now() / 1000), canary));
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=~+/';

/**
 * Generates mutated tokens one by one, so that 30,000 tokens are not in memory at the same time. The valid token is
 * renewed after each 10,000 mutations, so that it does not expire.
 */
function* mutated(issuer: Issuer, count: number, random: Random, canary?: string) {
  let token = good(issuer, canary);
  for (let i = 0; i < count; i++) {
    if (i % 10_000 === 9_999) token = good(issuer, canary);
    const { title, changed } = mutate(token, random);
    if (changed === token) continue;
    const entry: CorpusEntry = { title, authorization: `Bearer ${changed}`, good: false };
    yield { entry, endpoint: random.pick(ENDPOINTS) };
  }
}

function mutate(token: string, random: Random): { title: string; changed: string } {
  const at = random.int(token.length);
  const other = random.pick([...ALPHABET]);
  const title = random.weighted({
    replaced: 4,
    inserted: 1,
    removed: 1,
    swapped: 1,
    turned: 1,
    cut: 1,
    repeated: 1,
  });
  const [before, rest] = [token.slice(0, at), token.slice(at)];
  const changed = {
    replaced: before + other + rest.slice(1),
    inserted: before + other + rest,
    removed: before + rest.slice(1),
    swapped: before + (rest[1] ?? '') + rest[0] + rest.slice(2),
    turned: before + turnCase(rest[0]!) + rest.slice(1),
    cut: before,
    repeated: before + rest.slice(0, 4) + rest,
  }[title];
  return { title: `a token with character ${at} ${title}`, changed };
}

function turnCase(letter: string): string {
  return letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase();
}
