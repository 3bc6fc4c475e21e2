/** Twists: changes to a valid request. Most twists make the request wrong in one respect, or hostile. */

import { toJson } from '@measurement-exchange/testkit/requests';
import fc, { type Arbitrary } from 'fast-check';
import type { Sent } from '../http.ts';
import { BODIES, HEADERS, IDS, METHODS, NEVER_READ, ODD_VALUES, RAW_VALUES, TYPES } from './hostile.ts';
import type { State } from './state.ts';

/** The request that a twist is applied to. */
export interface Draft extends Sent {
  query: [name: string, value: string][];
  /** If true, a response of 200 is a violation. */
  mustReject: boolean;
  /** Fields that the exchange ignores. */
  ignored: ReadonlySet<string>;
}

export interface Twist {
  kind: keyof typeof TWISTS;
  /** Selects one of the places in the request that the twist can change, and one of the possible changes. */
  at: number;
}

export const twists: Arbitrary<Twist> = fc.record({
  kind: fc.constantFrom(...(Object.keys(twistTable()) as (keyof typeof TWISTS)[])),
  at: fc.nat(1_000),
});

export function applyTwist(draft: Draft, { kind, at }: Twist, state: State): void {
  TWISTS[kind](draft, at, state);
}

type Json = Record<string, unknown>;

/** Fields that hold arbitrary JSON or maps. The exchange therefore allows unknown members in these fields. */
const OPEN_FIELDS = new Set(['descriptorSet', 'metadata', 'dataProviders', 'duchies']);

/** Returns all objects of a body in which unknown members must be rejected. The body itself comes first. */
function closedObjects({ body, ignored }: Draft): Json[] {
  return closedWithin(body, ignored);
}

function closedWithin(value: unknown, ignored: ReadonlySet<string>): Json[] {
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return [];
  if (Array.isArray(value)) return value.flatMap((one) => closedWithin(one, ignored));
  const members = Object.entries(value).flatMap(([key, member]) =>
    OPEN_FIELDS.has(key) || ignored.has(key) ? [] : closedWithin(member, ignored),
  );
  return [value as Json, ...members];
}

function allObjects(value: unknown): Json[] {
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return [];
  const members = Object.values(value).flatMap(allObjects);
  return Array.isArray(value) ? members : [value as Json, ...members];
}

/** Changes one member of any object in the body. */
function change(draft: Draft, at: number, to: (value: unknown) => unknown): void {
  const places = allObjects(draft.body).flatMap((object) =>
    Object.keys(object).map((key) => ({ object, key })),
  );
  if (places.length === 0) return;
  const { object, key } = places[at % places.length]!;
  object[key] = to(object[key]);
}

/**
 * Replaces the value of one member with the text `raw`, which need not be valid JSON. Returns false if the body has no
 * member to replace.
 */
function rawJson(draft: Draft, at: number, raw: string): boolean {
  if (typeof draft.body !== 'object' || draft.body === null) return false;
  const mark = `@${at}@`;
  const place = closedObjects(draft)[0];
  const keys = Object.keys(place ?? {});
  if (place === undefined || keys.length === 0) return false;
  place[keys[at % keys.length]!] = mark;
  draft.body = toJson(draft.body).replace(`"${mark}"`, () => raw);
  return true;
}

const pick = <T>(list: readonly T[], at: number): T => list[at % list.length]!;
const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const TWISTS = twistTable();

function twistTable() {
  return {
    unknownField(draft: Draft, at: number) {
      const objects = closedObjects(draft);
      if (objects.length === 0) return;
      pick(objects, at)[`unexpected${at % 7}`] = pick([1, null, 'a', {}, []], at);
      draft.mustReject = true;
    },
    bothSpellings(draft: Draft, at: number) {
      const places = closedObjects(draft).flatMap((object) =>
        Object.keys(object)
          .filter((key) => /^[a-z]+[A-Z]/.test(key) && object[key] != null && !draft.ignored.has(key))
          .map((key) => ({ object, key })),
      );
      if (places.length === 0) return;
      const { object, key } = pick(places, at);
      object[snakeCase(key)] = object[key];
      draft.mustReject = true;
    },
    /** Writes one member in snake_case, which the exchange must accept. */
    otherSpelling(draft: Draft, at: number) {
      const [object] = closedObjects(draft);
      const key = object && pick(Object.keys(object), at);
      if (!key) return;
      const { [key]: value } = object;
      delete object[key];
      object[snakeCase(key)] = value;
    },
    twiceTheKey(draft: Draft, at: number) {
      const [object] = closedObjects(draft);
      // Choose a member that the JSON text contains. JSON.stringify omits members that are undefined.
      const written = Object.keys(object ?? {}).filter((key) => object![key] !== undefined);
      if (written.length === 0) return;
      const key = pick(written, at);
      draft.body = toJson(draft.body).replace('{', () => `{${JSON.stringify(key)}:null,`);
      draft.mustReject = true;
    },
    missingField(draft: Draft, at: number) {
      const places = allObjects(draft.body).flatMap((object) =>
        Object.keys(object).map((key) => ({ object, key })),
      );
      if (places.length === 0) return;
      const { object, key } = pick(places, at);
      delete object[key];
    },
    oddValue: (draft: Draft, at: number) => change(draft, at >> 3, () => pick(ODD_VALUES, at)),
    oddText: (draft: Draft, at: number) =>
      change(draft, at, (value) =>
        typeof value === 'string' ? `${value}${pick(['', ' ', '\n', '=', '\u00e9', '/'], at)}` : [value],
      ),
    rawValue(draft: Draft, at: number) {
      const raw = pick(RAW_VALUES, at);
      if (rawJson(draft, at, raw) && NEVER_READ.has(raw)) draft.mustReject = true;
    },
    rawBody(draft: Draft, at: number) {
      draft.body = pick(BODIES, at);
    },
    noBody(draft: Draft) {
      delete draft.body;
    },
    otherType(draft: Draft, at: number) {
      draft.headers = { ...draft.headers, 'content-type': pick(TYPES, at) };
      if (typeof draft.body === 'object') draft.mustReject = true;
    },
    compressed(draft: Draft, at: number) {
      draft.headers = { ...draft.headers, 'content-encoding': pick(['gzip', 'br', 'identity', 'x'], at) };
      draft.mustReject = true;
    },
    otherMethod(draft: Draft, at: number) {
      draft.method = pick(METHODS, at);
    },
    oddId(draft: Draft, at: number) {
      const parts = draft.target.split('/');
      const ids = parts.map((_, i) => i).filter((i) => i >= 3 && i % 2 === 1);
      if (ids.length === 0) return;
      const i = pick(ids, at);
      const verb = i === parts.length - 1 ? (/:\w+$/.exec(parts[i]!)?.[0] ?? '') : '';
      parts[i] = pick(IDS, at) + verb;
      draft.target = parts.join('/');
    },
    oddPath(draft: Draft, at: number) {
      const odd = [
        '/',
        '//',
        ':',
        ':cancel',
        '%20',
        '/..',
        '?',
        '/x',
        ';a=1',
        '%3Acancel',
        ':cancel:cancel',
        '#a',
      ];
      draft.target += pick(odd, at);
    },
    unknownParameter(draft: Draft, at: number) {
      draft.query.push([
        pick(['unexpected', 'filter', 'filter.', 'page', '$filter', '__proto__', 'names[]', ''], at),
        'a',
      ]);
      draft.mustReject = true;
    },
    oddParameter(draft: Draft, at: number) {
      const names = [
        'pageSize',
        'pageToken',
        'filter.states',
        'filter.updatedAfter',
        'requestId',
        'validateOnly',
        'names',
        'orderBy',
        'showDeleted',
      ];
      const values = [
        '',
        '-1',
        '1e3',
        '0x10',
        '99999999999999999999',
        'null',
        'true',
        '%00',
        '\ud7ff',
        'a'.repeat(3_000),
        '2024-13-01T00:00:00Z',
        '[]',
        "'",
      ];
      draft.query.push([pick(names, at), pick(values, at >> 2)]);
    },
    foreignPageToken(draft: Draft, at: number, { pageTokens }: State) {
      const issued = pageTokens.length === 0 ? undefined : pick(pageTokens, at);
      if (issued === undefined || draft.method !== 'GET' || issued.list === draft.target) return;
      draft.query = [...draft.query.filter(([name]) => name !== 'pageToken'), ['pageToken', issued.token]];
      draft.mustReject = true;
    },
    brokenPageToken(draft: Draft, at: number, { pageTokens }: State) {
      const issued = pageTokens.length === 0 ? undefined : pick(pageTokens, at);
      if (issued === undefined || draft.method !== 'GET') return;
      const { token } = issued;
      const i = at % token.length;
      const changed = token.slice(0, i) + (token[i] === 'A' ? 'B' : 'A') + token.slice(i + 1);
      draft.query = [...draft.query.filter(([name]) => name !== 'pageToken'), ['pageToken', changed]];
      draft.mustReject = true;
    },
    /**
     * Replaces one certificate name with a certificate name of another party of the same kind. The exchange must reject
     * the request, because a caller is allowed to name only its own resources, or those of the party in the path.
     */
    foreignCertificate(draft: Draft, at: number, { guarded }: State) {
      const places = closedObjects(draft).flatMap((object) =>
        Object.keys(object)
          .filter(
            (key) =>
              /certificate$/i.test(key) &&
              !draft.ignored.has(key) &&
              String(object[key]).includes('/certificates/'),
          )
          .map((key) => ({ object, key })),
      );
      if (places.length === 0) return;
      const { object, key } = pick(places, at);
      const [collection, owner] = String(object[key]).split('/');
      const others = [...guarded].filter(
        (name) =>
          name.includes('/certificates/') &&
          name.startsWith(`${collection}/`) &&
          !name.startsWith(`${collection}/${owner}/`),
      );
      if (others.length === 0) return;
      object[key] = pick(others, at);
      draft.mustReject = true;
    },
    oddHeader(draft: Draft, at: number) {
      draft.headers = { ...draft.headers, ...pick(HEADERS, at) };
    },
  };
}
