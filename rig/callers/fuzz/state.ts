/**
 * The fuzzer's knowledge of the exchange: created names, open requisitions, and end states that must never change
 * again.
 */

import type { Kind } from '@measurement-exchange/testkit/callers/world';
import type { DevJson, DevParty } from '@measurement-exchange/testkit/requests';
import type { NameRef } from './schemas.ts';

export interface Speaker {
  /**
   * The caller's name, for example `dataProviders/streamly` or `operator`. Empty if the exchange does not know the
   * caller.
   */
  name: string;
  kind: Kind | undefined;
  id: string;
  token: string | undefined;
  party: DevParty | undefined;
}

export interface OpenRequisition {
  provider: string;
  name: string;
  etag: string;
  nonce: bigint;
}

export interface IssuedPageToken {
  /** The path of the list that returned the token. */
  list: string;
  token: string;
}

/**
 * The maximum number of saved names of each shape, of open requisitions, and of page tokens. New entries replace the
 * oldest.
 */
const MAX_SAVED = 400;
const KEPT_ENDS = 50_000;
const ENDS: Record<string, readonly string[]> = {
  measurements: ['SUCCEEDED', 'FAILED', 'CANCELLED'],
  requisitions: ['FULFILLED', 'REFUSED', 'WITHDRAWN'],
  eventGroups: ['DELETED'],
};

const KINDS: Record<string, Kind> = {
  measurementConsumers: 'measurementConsumer',
  dataProviders: 'dataProvider',
  duchies: 'duchy',
};

export class State {
  readonly speakers: Speaker[];
  readonly open: OpenRequisition[] = [];
  readonly pageTokens: IssuedPageToken[] = [];
  /** Resources that the demo parties need. Requests to suspend or revoke them must be sent with `validateOnly`. */
  readonly guarded = new Set<string>();
  // The key is the shape of a name (`dataProviders/*/requisitions/*`), or the owner and the shape.
  private readonly names = new Map<string, string[]>();
  private readonly counts = new Map<string, number>();
  private readonly ends = new Map<string, { state: string; seenAt: number }>();

  constructor(dev: DevJson, unknown: { garbage: string; unmapped: string }) {
    const parties = [...dev.measurementConsumers, ...dev.dataProviders];
    const nobody = { name: '', kind: undefined, id: '', party: undefined };
    this.speakers = [
      ...parties.map((party) => {
        const [collection, id] = party.name.split('/') as [string, string];
        return { name: party.name, kind: KINDS[collection], id, token: party.token, party };
      }),
      { name: 'operator', kind: 'operator', id: '', token: dev.operator.token, party: undefined },
      { ...nobody, token: undefined },
      { ...nobody, token: unknown.garbage },
      { ...nobody, token: unknown.unmapped },
    ];
    for (const { name, certificate } of parties) {
      for (const known of [name, certificate]) {
        this.learn(known);
        this.guarded.add(known);
      }
    }
  }

  learn(name: string): void {
    const shape = shapeOf(name);
    const owner = name.split('/').slice(0, 2).join('/');
    for (const key of [shape, `${owner} ${shape}`]) {
      const list = this.names.get(key) ?? [];
      const count = this.counts.get(key) ?? 0;
      list[count % MAX_SAVED] = name;
      this.names.set(key, list);
      this.counts.set(key, count + 1);
    }
  }

  /** Returns a known name of this shape. If `owner` is given, the name belongs to that owner. */
  nameOf(shape: string, pick: number, owner?: string): string | undefined {
    const list = this.names.get(owner === undefined ? shape : `${owner} ${shape}`) ?? [];
    return list.length === 0 ? undefined : list[pick % list.length];
  }

  resolve({ pattern, pick }: NameRef, owner?: string): string {
    const shapes = shapesOf(pattern);
    const found = [owner, undefined].flatMap((of) => shapes.map((shape) => this.nameOf(shape, pick, of)));
    return found.find((name) => name !== undefined) ?? shapes[0]!.replaceAll('*', 'absent');
  }

  /**
   * Remembers end states. Returns a problem if a resource was in an end state, and the response to a later request
   * shows another state.
   */
  observe(resource: { name: string; state: string }, sentAt: number): string | undefined {
    const parts = resource.name.split('/');
    // A resource has a different name for each party, so only the last two parts identify it.
    const key = parts.slice(-2).join('/');
    const ended = this.ends.get(key);
    if (ended !== undefined && ended.seenAt < sentAt && ended.state !== resource.state) {
      return `${resource.name} was ${ended.state} and became ${resource.state}`;
    }
    if (ended === undefined && ENDS[parts.at(-2)!]?.includes(resource.state)) {
      if (this.ends.size >= KEPT_ENDS) this.ends.delete(this.ends.keys().next().value!);
      this.ends.set(key, { state: resource.state, seenAt: performance.now() });
    }
    return undefined;
  }

  rememberOpen(requisition: OpenRequisition): void {
    if (this.open.length >= MAX_SAVED) this.open.shift();
    this.open.push(requisition);
  }

  /** Removes one of the provider's open requisitions from the list and returns it, so that no other request uses it. */
  takeOpen(provider: string, pick: number): OpenRequisition | undefined {
    const fitting = this.open.filter((one) => one.provider === provider);
    const one = fitting.length === 0 ? undefined : fitting[pick % fitting.length];
    if (one !== undefined) this.open.splice(this.open.indexOf(one), 1);
    return one;
  }

  rememberPageToken(issued: IssuedPageToken): void {
    if (this.pageTokens.length >= MAX_SAVED) this.pageTokens.shift();
    this.pageTokens.push(issued);
  }
}

export function shapeOf(name: string): string {
  return name
    .split('/')
    .map((part, i) => (i % 2 === 0 ? part : '*'))
    .join('/');
}

/** Returns the shapes of the names in a pattern of the OpenAPI document, such as `^(?:a/[A-Za-z0-9_-]{1,63}|…)$`. */
function shapesOf(pattern: string): string[] {
  return pattern
    .replaceAll('[A-Za-z0-9_-]{1,63}', '*')
    .replace(/^\^(?:\(\?:)?|\)?\$$/g, '')
    .split('|');
}
