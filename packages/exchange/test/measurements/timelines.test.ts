import {
  type DevParty,
  measurementRequest,
  type Reply,
  useExchange,
} from '@measurement-exchange/testkit/exchange';
import {
  castOf,
  errorOf,
  fulfill,
  get,
  ok,
  post,
  refuse,
  requisitionOf,
  signed,
  TIMESTAMP,
} from '@measurement-exchange/testkit/steps';
import { beforeAll, describe, expect, it } from 'vitest';

let acme: DevParty;
let streamly: DevParty;
let chirper: DevParty;

const exchange = useExchange();
beforeAll(() => {
  ({ acme, streamly, chirper } = castOf(exchange));
});

const AWAITING = 'AWAITING_REQUISITION_FULFILLMENT';

interface Transition {
  resource: string;
  from?: string;
  to: string;
  time: string;
  actor: string;
  cause: string;
  requestId: string;
  findings?: { code: string }[];
}
/** Formats a step of a timeline: the actor, the resource, both states, the cause and the request. */
const line = (t: Transition) =>
  `${t.actor} ${t.resource} ${t.from ?? '-'} > ${t.to} ${t.cause} ${t.requestId}`;
const timeline = async (party: DevParty, name: string): Promise<Transition[]> => {
  const { transitions, ...rest } = await get(exchange, party, `${name}:timeline`);
  expect(rest).toEqual({});
  return transitions;
};
const requestIdOf = (reply: Reply) => reply.headers.get('x-request-id');

/**
 * Creates a measurement of two providers. Returns the name of the measurement, and the ID of the create request as
 * `call`. Also returns the two requisitions as the providers see them (`own`), and the names that the consumer sees for
 * these requisitions (`views`).
 */
async function begin(request: object = measurementRequest(acme, [streamly, chirper])) {
  const created = await post(exchange, acme, `${acme.name}/measurements`, request);
  const { name } = await ok(created);
  const own = [
    await requisitionOf(exchange, streamly, { name }),
    await requisitionOf(exchange, chirper, { name }),
  ];
  const views = own.map((r) => `${name}/requisitions/${r.name.split('/').at(-1)}`);
  return { name, own, views, call: requestIdOf(created) };
}

describe('the timeline of a measurement', () => {
  it('has every step to SUCCEEDED in order, with the actor and the request ID', async () => {
    const { name, own, views, call } = await begin();
    const first = await fulfill(exchange, streamly, own[0], 1n);
    const last = await fulfill(exchange, chirper, own[1], 2n);
    const steps = await timeline(acme, name);
    expect(steps.map(line)).toEqual([
      `${acme.name} ${name} - > ${AWAITING} created ${call}`,
      `${acme.name} ${views[0]} - > UNFULFILLED created ${call}`,
      `${acme.name} ${views[1]} - > UNFULFILLED created ${call}`,
      `${streamly.name} ${views[0]} UNFULFILLED > FULFILLED fulfilled ${requestIdOf(first)}`,
      `${chirper.name} ${views[1]} UNFULFILLED > FULFILLED fulfilled ${requestIdOf(last)}`,
      `${chirper.name} ${name} ${AWAITING} > COMPUTING allFulfilled ${requestIdOf(last)}`,
      `${chirper.name} ${name} COMPUTING > SUCCEEDED computed ${requestIdOf(last)}`,
    ]);
    const times = steps.map((s) => s.time);
    for (const time of times) expect(time).toMatch(TIMESTAMP);
    expect(times).toEqual(times.toSorted());
    const { createTime, updateTime } = await get(exchange, acme, name);
    expect([times[0], times.at(-1)]).toEqual([createTime, updateTime]);
  });

  it('has a refusal and the withdrawals that it caused', async () => {
    const { name, own, views } = await begin();
    const refused = requestIdOf(await refuse(exchange, chirper, own[1]));
    expect((await timeline(acme, name)).slice(3).map(line)).toEqual([
      `${chirper.name} ${views[1]} UNFULFILLED > REFUSED refused ${refused}`,
      `${chirper.name} ${name} ${AWAITING} > FAILED refused ${refused}`,
      `${chirper.name} ${views[0]} UNFULFILLED > WITHDRAWN withdrawn ${refused}`,
    ]);
  });

  it('has a cancellation, but no requests that were rejected after it', async () => {
    const { name, own, views } = await begin();
    const fulfilled = requestIdOf(await fulfill(exchange, streamly, own[0], 1n));
    const cancelled = requestIdOf(await post(exchange, acme, `${name}:cancel`));
    await post(exchange, acme, `${name}:cancel`);
    await fulfill(exchange, chirper, own[1], 2n);
    expect((await timeline(acme, name)).slice(3).map(line)).toEqual([
      `${streamly.name} ${views[0]} UNFULFILLED > FULFILLED fulfilled ${fulfilled}`,
      `${acme.name} ${name} ${AWAITING} > CANCELLED cancelled ${cancelled}`,
      `${acme.name} ${views[1]} UNFULFILLED > WITHDRAWN withdrawn ${cancelled}`,
    ]);
  });

  it('has findings only at the steps to which they belong', async () => {
    const measurementSpec = signed(acme, Buffer.from('not a spec'));
    const { name, own } = await begin({ ...measurementRequest(acme, [streamly, chirper]), measurementSpec });
    const encryptedResult = { ciphertext: 'AQ==', typeUrl: 'type.example/unknown' };
    await ok(fulfill(exchange, streamly, own[0], 1n, { encryptedResult }));
    const steps = await timeline(acme, name);
    expect(steps.map((s) => s.findings?.map((f) => f.code))).toEqual([
      ['SPEC_UNDECODABLE'],
      undefined,
      undefined,
      ['TYPE_URL_UNKNOWN'],
    ]);
    expect(steps[0]!.findings).toEqual([
      {
        code: 'SPEC_UNDECODABLE',
        field: 'measurementSpec.message',
        message: expect.stringMatching(/\w/),
        remedy: expect.stringMatching(/\w/),
      },
    ]);
  });
});

describe('the pages of a timeline', () => {
  /** Reads the whole timeline in pages of `pageSize` steps. */
  const paged = async (party: DevParty, name: string, pageSize: number) => {
    const pages: Transition[][] = [];
    for (let token = ''; ; ) {
      const page = await get(exchange, party, `${name}:timeline?pageSize=${pageSize}&pageToken=${token}`);
      pages.push(page.transitions);
      token = page.nextPageToken;
      if (token === undefined) return pages;
    }
  };

  it('have the same steps in the same order as one page, in both views', async () => {
    const { name, own } = await begin();
    await fulfill(exchange, streamly, own[0], 1n);
    await fulfill(exchange, chirper, own[1], 2n);
    const whole = await timeline(acme, name);
    for (const pageSize of [1, 3, 6, 7]) {
      const pages = await paged(acme, name, pageSize);
      expect(pages).toHaveLength(Math.ceil(7 / pageSize));
      expect(pages.flat()).toEqual(whole);
    }
    const ofOne = await paged(streamly, own[0].name, 1);
    expect(ofOne.map((page) => page.length)).toEqual([1, 1]);
    expect(ofOne.flat()).toEqual(await timeline(streamly, own[0].name));
  });

  it('have 50 steps by default, and tokens that are valid for only one timeline', async () => {
    const { name, own } = await begin();
    const requisition = own[0].name.split('/').at(-1);
    // Insert the steps directly, because no caller can cause this many.
    await exchange.database.query(
      `INSERT INTO transitions (measurement, requisition, version, from_state, to_state, time, actor, cause, request_id)
       SELECT r.measurement, r.id, n, r.state, r.state, now(), r.provider, 'deferred', 'x'
         FROM requisitions r, generate_series(2, 500) n WHERE r.id = $1 ORDER BY n`,
      [requisition],
    );
    const first = await get(exchange, acme, `${name}:timeline`);
    expect(first.transitions).toHaveLength(50);
    const theirs = await get(exchange, streamly, `${own[0].name}:timeline`);
    expect(theirs.transitions).toHaveLength(50);
    expect((await paged(acme, name, 1000)).flat()).toHaveLength(3 + 499);
    expect((await paged(streamly, own[0].name, 200)).map((page) => page.length)).toEqual([200, 200, 100]);
    // A page token is valid for only one timeline.
    const stolen = `${own[1].name}:timeline?pageToken=${theirs.nextPageToken}`;
    expect(errorOf(await exchange.call(chirper.token, 'GET', `/v2alpha/${stolen}`))).toBe(
      '400 INVALID_ARGUMENT INVALID_PAGE_TOKEN pageToken',
    );
    await exchange.database.query(`DO $$ BEGIN
      PERFORM set_config('mex.removing', 'on', true);
      DELETE FROM transitions WHERE requisition = '${requisition}' AND version > 1;
    END $$`);
  });
});

describe('the timeline of a requisition', () => {
  it('has only the steps of this requisition, under the name that its provider sees', async () => {
    const { own, call } = await begin();
    const fulfilled = requestIdOf(await fulfill(exchange, streamly, own[0], 1n));
    await fulfill(exchange, chirper, own[1], 2n);
    expect((await timeline(streamly, own[0].name)).map(line)).toEqual([
      `${acme.name} ${own[0].name} - > UNFULFILLED created ${call}`,
      `${streamly.name} ${own[0].name} UNFULFILLED > FULFILLED fulfilled ${fulfilled}`,
    ]);
  });

  it('shows that another provider caused its withdrawal, but not which one', async () => {
    const { own } = await begin();
    const refused = requestIdOf(await refuse(exchange, chirper, own[1]));
    const steps = await timeline(streamly, own[0].name);
    expect(line(steps[1]!)).toBe(
      `dataProviders/- ${own[0].name} UNFULFILLED > WITHDRAWN withdrawn ${refused}`,
    );
    expect(JSON.stringify(steps)).not.toContain(chirper.name);
    expect(line((await timeline(chirper, own[1].name))[1]!)).toBe(
      `${chirper.name} ${own[1].name} UNFULFILLED > REFUSED refused ${refused}`,
    );
  });

  it('has the findings about its fulfillment, but none about other providers', async () => {
    const request = measurementRequest(acme, [streamly, chirper]);
    request.dataProviders[chirper.name]!.encryptedRequisitionSpec.typeUrl = 'type.example/unknown';
    const { own } = await begin(request);
    const encryptedResult = { ciphertext: 'AQ==', typeUrl: 'type.example/unknown' };
    await ok(fulfill(exchange, streamly, own[0], 1n, { encryptedResult }));
    const steps = await timeline(streamly, own[0].name);
    expect(steps.map((s) => s.findings?.map((f) => f.code))).toEqual([undefined, ['TYPE_URL_UNKNOWN']]);
  });
});
