/**
 * Mutates an exchange's replies. Fields are dropped, changed, swapped, made huge, or given another type. Whole replies
 * are replaced by earlier replies or errors, are truncated, or never end.
 */
import type { Exchanged, Json } from './lyingExchange.ts';

/** Returns an integer from 0 to `n` - 1. The sequence depends only on the seed (mulberry32). */
export type Draw = (n: number) => number;

export function drawFrom(seed: number): Draw {
  let state = seed >>> 0;
  return (n) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % n;
  };
}

const JSON_TYPE = { 'content-type': 'application/json' };
const text = (body: BodyInit, status = 200, headers: Record<string, string> = JSON_TYPE) =>
  new Response(body, { status, headers });

/** The location of a value in JSON: its parent and its key. */
interface Place {
  parent: Json;
  key: string | number;
}

function placesIn(value: Json, found: Place[] = []): Place[] {
  if (typeof value !== 'object' || value === null) return found;
  for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    found.push({ parent: value, key });
    placesIn(value[key], found);
  }
  return found;
}

const OTHER_TYPES: Json[] = [
  null,
  0,
  -1,
  1.5,
  1e308,
  true,
  '',
  'x',
  '\u0000',
  [],
  {},
  [[]],
  [null],
  { '': '' },
];
const PARTIES = [
  'measurementConsumers/acme',
  'measurementConsumers/globex',
  'dataProviders/streamly',
  'dataProviders/chirper',
  'dataProviders/dailynews',
];

/** Returns a mutated reply. `earlier` has the previous replies of the exchange to any party. */
export function spoil({ path, reply }: Exchanged, earlier: Exchanged[], draw: Draw): Json | Response {
  const pick = <T>(list: readonly T[]): T => list[draw(list.length)]!;
  const places = placesIn(reply);
  const place = places.length > 0 ? pick(places) : { parent: { reply }, key: 'reply' };
  const { parent, key } = place;
  const alter = (value: Json) => {
    parent[key] = value;
    return reply;
  };
  /**
   * Returns an earlier reply about a different resource of the same kind, or any earlier reply if there is no such
   * reply.
   */
  const alike = () => {
    // For `dataProviders/streamly/certificates/c1` the form is `dataProviders/*/certificates/*`.
    const form = (given: string) => given.replace(/(\w+)\/[^/]+/g, '$1/*');
    const same = earlier.filter((other) => form(other.path) === form(path) && other.path !== path);
    return structuredClone(pick(same.length > 0 ? same : earlier).reply);
  };
  const plausible: (() => Json | Response)[] = [
    () => {
      if (Array.isArray(parent)) parent.splice(Number(key), 1);
      else delete parent[key];
      return reply;
    },
    () => alter(flipped(parent[key], draw)),
    // Replace the value with one that has the same key in an earlier reply, or else with any value of that reply.
    () => {
      const others = placesIn(pick(earlier).reply);
      const same = others.filter((other) => other.key === key);
      const from = same.length > 0 ? same : others;
      if (from.length === 0) return reply;
      const taken = pick(from);
      return alter(structuredClone(taken.parent[taken.key]));
    },
    alike,
    // Replace the reply with another one, but keep the requested name.
    () => ({ ...alike(), ...(reply.name && { name: reply.name }) }),
    () => JSON.parse(JSON.stringify(reply).replaceAll(pick(PARTIES), pick(PARTIES))),
    () => alter(Array.isArray(parent[key]) ? [...parent[key], ...parent[key]].reverse() : [parent[key]]),
  ];
  const absurd: (() => Json | Response)[] = [
    () => alter(pick(OTHER_TYPES)),
    () => structuredClone(pick(earlier).reply),
    () => ({ ...reply, nextPageToken: 'again', [pick(['results', 'dataProviders', 'name'])]: parent[key] }),
    () => alter('A'.repeat(2_000_000)),
    () => alter(Array.from({ length: 50_000 }, () => 0)),
    () => text(`${'['.repeat(5_000)}${']'.repeat(5_000)}`),
    () => text(JSON.stringify(reply).slice(0, draw(JSON.stringify(reply).length + 1))),
    () => text(JSON.stringify(reply).replace('{', '{"name": "twice",')),
    () => text(new Uint8Array(50).map(() => draw(256))),
    () => text('<h1>Welcome</h1>', 200, { 'content-type': 'text/html' }),
    () => text('', 302, { location: 'http://elsewhere.test/' }),
    () => text(JSON.stringify(reply), pick([201, 400, 401, 403, 404, 409, 429, 500, 503])),
    () => text(JSON.stringify(errorOf(pick(REASONS))), pick([400, 403, 404, 409, 429, 500, 503])),
    () => text(endless()),
  ];
  return pick(draw(3) === 0 ? absurd : plausible)();
}

const REASONS = ['REQUEST_ID_REUSED', 'CERTIFICATE_NOT_FOUND', 'ETAG_MISMATCH', 'RATE_LIMITED', 'NONSENSE'];

function errorOf(reason: string): Json {
  const type = 'type.googleapis.com/google.rpc.ErrorInfo';
  const metadata = { existing: 'measurementConsumers/acme/measurements/m1' };
  return {
    error: { code: 409, status: 'ABORTED', message: 'No.', details: [{ '@type': type, reason, metadata }] },
  };
}

function endless(): ReadableStream {
  const chunk = new Uint8Array(64 * 1024).fill(32);
  return new ReadableStream({ pull: (controller) => controller.enqueue(chunk) });
}

/**
 * Flips one bit of the bytes that a base64 text encodes, or replaces one character of any other text. Replaces any
 * value that is not text.
 */
function flipped(value: Json, draw: Draw): Json {
  if (typeof value !== 'string') return value === true ? false : 7;
  const bytes = Buffer.from(value, 'base64');
  if (bytes.length > 0 && bytes.toString('base64') === value) {
    const at = draw(bytes.length);
    bytes[at] = bytes[at]! ^ (1 << draw(8));
    return bytes.toString('base64');
  }
  const at = draw(value.length + 1);
  return `${value.slice(0, at)}${String.fromCharCode(33 + draw(90))}${value.slice(at + 1)}`;
}
