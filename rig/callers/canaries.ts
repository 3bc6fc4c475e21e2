/**
 * H16: makes every secret recognizable by a unique text (its mark), and sends many kinds of requests. Then searches for
 * the marks in all places where they must not be.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { WORLD_CONFIG } from '@measurement-exchange/testkit/callers/world';
import type { Reply } from '@measurement-exchange/testkit/exchange';
import {
  fulfillment,
  measurementRequest,
  nonceHash,
  reportRequest,
} from '@measurement-exchange/testkit/requests';
import { atScale, type Context, type Harness, type Outcome, type Violations } from '../harness.ts';
import type { Random } from '../random.ts';
import { type Counted, type World, type WorldOptions, withWorld } from '../world.ts';
import { fuzz } from './fuzz.ts';
import type { Sent } from './http.ts';
import { askEverybody } from './matrix.ts';
import { Secrets } from './secrets.ts';
import { tryTokens } from './tokens.ts';

export const h16: Harness = {
  id: 'H16',
  title: 'secrets do not appear in logs, files, pages or responses to other parties',
  run: lookForCanaries,
};

function lookForCanaries(context: Context): Promise<Outcome> {
  const secrets = new Secrets();
  const password = secrets.make('the database password', context.random);
  const outputs: string[] = [];
  const options: WorldOptions = {
    replicas: atScale(context, { slice: 1, short: 2, long: 2 }),
    // Log at the most detailed level, so that every possible log line is searched.
    config: { ...WORLD_CONFIG, logLevel: 'trace' },
    databaseUrl: (direct) => withPassword(direct, password),
    onOutput: (text) => outputs.push(text),
  };
  return withWorld(context, options, async (world) => {
    const counted = await bear(context, world, secrets);
    await search(world, secrets, outputs);
    return counted;
  });
}

/**
 * Adds a password to the URL of the database. The server does not ask for the password, but the exchange could leak the
 * URL.
 */
function withPassword(direct: string, password: string): string {
  const url = new URL(direct);
  url.password = password;
  return url.toString();
}

/** Runs the traffic, in which every kind of secret passes through the exchange. */
async function bear(context: Context, world: World, secrets: Secrets): Promise<Counted> {
  const { random } = context;
  await learnKeys(world, secrets);
  const story = await tellStory(world, secrets, random);
  const listener = (sent: Sent, response: Reply) => story.listen(sent, response);
  // Run the other harnesses at no more than their smallest scale (a slice), because more of their traffic would not
  // reveal more leaks.
  const slice: Context = { ...context, scale: 'slice' };
  const parts = [
    await tryTokens(slice, world, { canary: secrets.make('a claim of a token', random), listener }),
    await fuzz(slice, world, {
      requests: atScale(context, { slice: 400, short: 1_500, long: 1_500 }),
      canary: secrets.make('a ciphertext of the fuzzer', random),
      onNonce: (nonce) => secrets.addNonce('a nonce of the fuzzer', nonce),
      listener,
    }),
  ];
  // Run the matrix of all callers and operations last, because its setup writes rows that the exchange itself would not
  // write.
  await untilCascadesEnd(world);
  parts.push(await askEverybody(slice, world, listener));
  story.report(world.violations);
  return {
    operations: parts.reduce((sum, { operations }) => sum + operations, 0),
    faults: 0,
    notes: [`${secrets.count} secrets in ${secrets.forms} written forms`],
  };
}

/**
 * Waits for the end of revocation cascades, because the matrix requires that the tables do not change by themselves.
 */
async function untilCascadesEnd({ postgres }: World): Promise<void> {
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; await sleep(100)) {
    const [row] = await postgres.query('SELECT count(*)::int AS pending FROM revocation_cascades');
    if (row!.pending === 0) return;
  }
}

/** Registers keys and tokens as marks. They are already unique, so no mark is added to them. */
async function learnKeys(world: World, secrets: Secrets): Promise<void> {
  for (const [i, { dev, dataDir }] of world.exchanges.entries()) {
    const parties = [...dev.measurementConsumers, ...dev.dataProviders];
    for (const { name, token, privateKeyPem, ...rest } of parties) {
      secrets.add(`the token of ${name} at exchange ${i}`, token.split('.')[2]!);
      secrets.addBytes(`the signing key of ${name}`, pemBytes(privateKeyPem).subarray(36, 68));
      const { encryptionPrivateKey } = rest as { encryptionPrivateKey?: string };
      if (encryptionPrivateKey)
        secrets.addBytes(
          `the decryption key of ${name}`,
          Buffer.from(encryptionPrivateKey, 'base64').subarray(-60, -12),
        );
    }
    secrets.add(`the token of the operator at exchange ${i}`, dev.operator.token.split('.')[2]!);
    const { d } = JSON.parse(readFileSync(join(dataDir, 'dev-issuer.json'), 'utf8'));
    secrets.addBytes(`the key of the token issuer of exchange ${i}`, Buffer.from(d, 'base64url'));
  }
  const [row] = await world.postgres.query(`SELECT value FROM settings WHERE key = 'devPageTokenKey'`);
  secrets.addBytes('the page token key', Buffer.from(String(row!.value), 'base64'));
}

/**
 * Returns the bytes of a PEM file. In PKCS#8, the private key of P-256 is in the middle of these bytes. The bytes
 * before the key are the same in all files, so callers use only the bytes of the key as a mark.
 */
function pemBytes(pem: string): Buffer {
  return Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64');
}

interface Story {
  listen(sent: Sent, response: Reply): void;
  report(violations: Violations): void;
}

/**
 * Sends data that only a few parties are allowed to read. Each mark in the data has a list of these parties. The
 * returned story finds responses that show a mark to another party.
 */
async function tellStory(world: World, secrets: Secrets, random: Random): Promise<Story> {
  const [acme] = world.consumers;
  const [streamly, chirper] = world.providers;
  const shared = new Map<string, string[]>();
  const mark = (title: string, readers: string[]) => {
    const marker = secrets.make(title, random);
    shared.set(Buffer.from(marker).toString('base64').slice(0, -2), readers);
    return Buffer.from(marker).toString('base64');
  };
  const body = measurementRequest(acme!, [streamly!, chirper!]);
  const nonces = [streamly!, chirper!].map((provider) => {
    const nonce = random.uint64() | (1n << 63n);
    const entry = body.dataProviders[provider.name]!;
    entry.encryptedRequisitionSpec.ciphertext = mark(`the requisition spec for ${provider.name}`, [
      acme!.name,
      provider.name,
    ]);
    entry.nonceHash = nonceHash(nonce);
    secrets.addNonce(`the nonce of ${provider.name}`, nonce);
    shared.set(String(nonce), [acme!.name, provider.name]);
    return nonce;
  });
  const encryptedQuestion = { ciphertext: mark('the sealed question', [acme!.name]), typeUrl: 'x/Question' };
  const asked = { ...body, encryptedQuestion };
  const created = await world.call(0, acme!.name, 'POST', `${acme!.name}/measurements`, asked);
  if (created.kind !== 'response' || created.status !== 200)
    throw new Error(`no measurement: ${JSON.stringify(created)}`);
  const sealed = (title: string) => ({ ciphertext: mark(title, [acme!.name]), typeUrl: 'x/Sealed' });
  const report = {
    ...reportRequest([created.json.name]),
    sealedDefinition: sealed('the sealed definition of a report'),
    sealedAnswer: sealed('the sealed answer of a report'),
  };
  const stored = await world.call(0, acme!.name, 'POST', `${acme!.name}/reports`, report);
  if (stored.kind !== 'response' || stored.status !== 200)
    throw new Error(`no report: ${JSON.stringify(stored)}`);
  for (const [i, provider] of [streamly!, chirper!].entries()) {
    const listed = await world.call(0, provider.name, 'GET', `${provider.name}/requisitions`);
    const requisition = listed.kind === 'response' ? listed.json.requisitions[0] : undefined;
    const result = fulfillment(provider, requisition, nonces[i]!);
    result.encryptedResult.ciphertext = mark(`the result of ${provider.name}`, [acme!.name, provider.name]);
    const done = await world.call(0, provider.name, 'POST', `${requisition.name}:fulfillDirect`, result);
    if (done.kind !== 'response' || done.status !== 200)
      throw new Error(`not fulfilled: ${JSON.stringify(done)}`);
  }
  const told = new Set<string>();
  return {
    listen({ token, headers }, { status, text }) {
      const who = principalOf(token ?? headers?.authorization?.slice('Bearer '.length) ?? '');
      for (const [marker, rightful] of shared) {
        if (!rightful.includes(who) && text.includes(marker))
          told.add(`${who} read what is for ${rightful.join(' and ')}`);
      }
      // An error response is allowed to name fields, but it must not quote their content, even to the sender.
      if (status !== 200)
        for (const title of secrets.within(text)) told.add(`an error (${status}) quotes ${title}`);
    },
    report: (violations) => {
      for (const what of told) violations.add(what);
    },
  };
}

/**
 * Returns the principal that a token names, even if the token is invalid. The harness H12 tests that invalid tokens are
 * rejected.
 */
function principalOf(token: string): string {
  try {
    return JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()).mex_principal;
  } catch {
    return 'a stranger';
  }
}

/** Files and folders whose purpose is to hold secrets. They are not searched. */
const KEEPERS = ['dev.json', 'dev-root.json', 'dev-issuer.json', 'pg'];

async function search(world: World, secrets: Secrets, outputs: string[]): Promise<void> {
  const look = (where: string, text: string) => {
    for (const title of secrets.within(text)) world.violations.add(`${title} is in ${where}`);
  };
  look('the log of an exchange', outputs.join(''));
  for (const { url, dataDir, pid } of world.exchanges) {
    for (const page of ['metrics', 'healthz', 'readyz', 'openapi.json', 'docs', 'dev/jwks']) {
      look(`/${page}`, await (await fetch(`${url}/${page}`)).text());
    }
    for (const file of filesIn(dataDir))
      look(`the file ${file.slice(dataDir.length + 1)}`, readFileSync(file, 'latin1'));
    if (process.platform === 'linux') look('a command line', readFileSync(`/proc/${pid}/cmdline`, 'latin1'));
  }
  // Search PostgreSQL's log file, which is beside its data directory, and pg_stat_activity, which contains the last
  // query of each connection.
  const home = join(world.exchanges[0]!.dataDir, '..', 'database');
  for (const file of filesIn(home))
    look(`the file ${file.slice(home.length + 1)}`, readFileSync(file, 'latin1'));
  const asked = await world.postgres.query('SELECT query, application_name FROM pg_stat_activity');
  look('pg_stat_activity', JSON.stringify(asked));
}

function filesIn(dir: string): string[] {
  return readdirSync(dir)
    .filter((name) => !KEEPERS.includes(name))
    .flatMap((name) => {
      const path = join(dir, name);
      const stat = statSync(path);
      return stat.isDirectory() ? filesIn(path) : stat.isFile() ? [path] : [];
    });
}
