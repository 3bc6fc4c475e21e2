/** Tests the log of changes: which changes each party sees, and how its pages are read. */
import { newCertificate } from '@measurement-exchange/testkit/certificates';
import {
  act,
  all,
  reportFulfilled,
  resultOf,
  setAllParameters,
  useComputations,
} from '@measurement-exchange/testkit/computations';
import {
  createMeasurement,
  errorOf,
  fulfill,
  ok,
  post,
  refuse,
  requisitionOf,
} from '@measurement-exchange/testkit/steps';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { changesBehind, lineOf, page, tokenNow } from './follow.ts';

const world = useComputations();
const { exchange } = world;
const idOf = ({ name }: { name: string }) => name.split('/').at(-1)!;

/**
 * Runs `work`, and waits until each party can read its new changes. `expected` has the number of new changes of each
 * party. Returns the new changes of each party, each as a line of text.
 */
async function seen(
  expected: Record<'acme' | 'globex' | 'streamly' | 'chirper', number>,
  work: () => Promise<unknown>,
): Promise<Record<string, string[]>> {
  const parties = Object.keys(expected) as (keyof typeof expected)[];
  const tokens = await Promise.all(parties.map((party) => tokenNow(exchange, world[party])));
  await work();
  const lines: Record<string, string[]> = {};
  for (const [i, party] of parties.entries()) {
    const found = await changesBehind(exchange, world[party], tokens[i]!, expected[party]);
    lines[party] = found.map((change) => lineOf(world[party], change));
  }
  return lines;
}

describe('the log of changes', () => {
  it('lists each version of a measurement for its consumer, and of its requisitions for both parties', async () => {
    let [measurement, requisition] = ['', ''];
    const lines = await seen({ acme: 5, globex: 0, streamly: 2, chirper: 0 }, async () => {
      const made = await createMeasurement(exchange, world.acme, [world.streamly]);
      measurement = `measurements/${idOf(made)}`;
      const asked = await requisitionOf(exchange, world.streamly, made);
      requisition = `requisitions/${idOf(asked)}`;
      await ok(fulfill(exchange, world.streamly, asked, 1n));
    });
    expect(lines).toEqual({
      acme: [
        `${measurement} AWAITING_REQUISITION_FULFILLMENT 1`,
        `${measurement}/${requisition} UNFULFILLED 1`,
        `${measurement}/${requisition} FULFILLED 2`,
        `${measurement} COMPUTING 2`,
        `${measurement} SUCCEEDED 3`,
      ],
      globex: [],
      streamly: [`${requisition} UNFULFILLED 1`, `${requisition} FULFILLED 2`],
      chirper: [],
    });
  });

  it('lists a new version of a requisition whose measurement does not change', async () => {
    const measurement = await world.create(2);
    const requisition = await requisitionOf(exchange, world.streamly, measurement);
    const lines = await seen({ acme: 1, globex: 0, streamly: 1, chirper: 0 }, async () => {
      const until = new Date(Date.now() + 3600_000).toISOString();
      await ok(post(exchange, world.streamly, `${requisition.name}:defer`, { reason: 'Later.', until }));
    });
    const deferred = `requisitions/${idOf(requisition)} UNFULFILLED 2`;
    expect(lines.streamly).toEqual([deferred]);
    expect(lines.acme).toEqual([`measurements/${idOf(measurement)}/${deferred}`]);
  });

  it('lists the version of a refused requisition, and of a withdrawn one of another provider', async () => {
    const lines = await seen({ acme: 6, globex: 0, streamly: 2, chirper: 2 }, async () => {
      const measurement = await world.create(2);
      const requisition = await requisitionOf(exchange, world.streamly, measurement);
      await ok(refuse(exchange, world.streamly, requisition));
    });
    const states = (of: string[]) => of.map((line) => line.split(' ').slice(1).join(' '));
    expect(states(lines.acme!)).toEqual([
      ...['AWAITING_REQUISITION_FULFILLMENT 1', 'UNFULFILLED 1', 'UNFULFILLED 1'],
      ...['REFUSED 2', 'FAILED 2', 'WITHDRAWN 2'],
    ]);
    expect(states(lines.streamly!)).toEqual(['UNFULFILLED 1', 'REFUSED 2']);
    expect(states(lines.chirper!)).toEqual(['UNFULFILLED 1', 'WITHDRAWN 2']);
  });

  it('lists each version of a computation for each of its duchies, in order', async () => {
    const duchies = all(world.duchies);
    const tokens = await Promise.all(duchies.map((duchy) => tokenNow(exchange, duchy)));
    const measurement = await world.create(2);
    await setAllParameters(exchange, world.duchies, measurement);
    for (const i of [0, 1]) await ok(reportFulfilled(exchange, world.duchies, measurement, i));
    const { aggregator } = world.duchies;
    await ok(act(exchange, aggregator, measurement, 'setResult', resultOf(aggregator)));
    for (const [i, duchy] of duchies.entries()) {
      const found = await changesBehind(exchange, duchy, tokens[i]!, 7);
      expect(found.map(({ name, kind }) => [name, kind])).toEqual(
        found.map(() => [`${duchy.name}/computations/${idOf(measurement)}`, 'COMPUTATION']),
      );
      expect(found.map(({ state }) => state)).toEqual([
        ...['PENDING_PARAMS', 'PENDING_PARAMS', 'PENDING_PARAMS', 'PENDING_FULFILLMENT'],
        ...['PENDING_FULFILLMENT', 'COMPUTING', 'SUCCEEDED'],
      ]);
      const versions = found.map(({ version }) => version as number);
      expect(versions).toEqual(versions.toSorted((a, b) => a - b));
      expect(new Set(versions).size).toBe(7);
    }
  });

  it('lists event groups for provider and consumer, and other resources of a party only for the party', async () => {
    const { acme, streamly } = world;
    let [group, descriptor, certificate] = ['', '', ''];
    const lines = await seen({ acme: 4, globex: 0, streamly: 7, chirper: 0 }, async () => {
      const made = await ok(
        post(exchange, streamly, `${streamly.name}/eventGroups`, { measurementConsumer: acme.name }),
      );
      group = `eventGroups/${idOf(made)}`;
      await ok(
        exchange.call(streamly.token, 'PUT', `/v2alpha/${made.name}`, { measurementConsumer: acme.name }),
      );
      await ok(exchange.call(streamly.token, 'DELETE', `/v2alpha/${made.name}`));
      const descriptorSet = { file: [{ name: 'a.proto', package: 'a', messageType: [{ name: 'M' }] }] };
      const set = await ok(
        post(exchange, streamly, `${streamly.name}/eventGroupMetadataDescriptors`, { descriptorSet }),
      );
      descriptor = `eventGroupMetadataDescriptors/${idOf(set)}`;
      await ok(exchange.call(streamly.token, 'PATCH', `/v2alpha/${set.name}`, { descriptorSet }));
      const { x509Der } = await newCertificate();
      const registered = await ok(post(exchange, streamly, `${streamly.name}/certificates`, { x509Der }));
      certificate = `certificates/${idOf(registered)}`;
      await ok(post(exchange, streamly, `${registered.name}:revoke`, { revocationState: 'REVOKED' }));
      await ok(exchange.call(acme.token, 'PATCH', `/v2alpha/${acme.name}`, { displayName: 'Acme' }));
    });
    const groups = [`${group} ACTIVE 1`, `${group} ACTIVE 2`, `${group} DELETED 3`];
    expect(lines.acme!.slice(0, 3)).toEqual(groups);
    expect(lines.acme!.slice(3)).toEqual([expect.stringMatching(/^ACTIVE \d+$/)]);
    expect(lines.streamly).toEqual([
      ...groups,
      ...[`${descriptor} 1`, `${descriptor} 2`, `${certificate} 1`, `${certificate} REVOKED 2`],
    ]);
    expect([lines.globex, lines.chirper]).toEqual([[], []]);
  });

  it('lists nothing for a validateOnly request', async () => {
    const lines = await seen({ acme: 1, globex: 0, streamly: 0, chirper: 0 }, async () => {
      const path = `/v2alpha/${world.acme.name}`;
      for (const query of ['?validateOnly=true', '']) {
        await ok(exchange.call(world.acme.token, 'PATCH', `${path}${query}`, { displayName: 'Anvils' }));
      }
    });
    expect(lines.acme).toHaveLength(1);
  });
});

describe('pages of changes', () => {
  it('follow each other without gaps or duplicates, and always have a next page token', async () => {
    const token = await tokenNow(exchange, world.acme);
    for (let i = 0; i < 3; i++) await createMeasurement(exchange, world.acme, [world.streamly]);
    const whole = await changesBehind(exchange, world.acme, token, 6);
    const read = [];
    let next = token;
    for (let i = 0; i < 6; i++) {
      const one = await page(exchange, world.acme, `pageSize=1&pageToken=${next}`);
      read.push(...one.changes);
      next = one.nextPageToken;
    }
    expect(read).toEqual(whole);
    const empty = await page(exchange, world.acme, `pageToken=${next}`);
    expect(empty).toEqual({ changes: [], nextPageToken: next });
  });

  it('begin with the oldest change with from=OLDEST', async () => {
    const { changes } = await page(exchange, world.streamly, 'from=OLDEST&pageSize=1');
    expect(changes).toMatchObject([{ name: world.streamly.name, kind: 'PARTY', version: 1 }]);
  });

  it('contain the newest changes in order with from=NEWEST, and continue after them', async () => {
    const all = await page(exchange, world.acme, 'from=OLDEST&pageSize=1000');
    expect(all.changes.length).toBeGreaterThan(3);
    const newest = await page(exchange, world.acme, 'from=NEWEST&pageSize=3');
    expect(newest.changes).toEqual(all.changes.slice(-3));
    const more = await page(exchange, world.acme, 'from=NEWEST&pageSize=1000');
    expect(more.changes).toEqual(all.changes);
    const { name } = await createMeasurement(exchange, world.acme, [world.streamly]);
    const [next] = await changesBehind(exchange, world.acme, newest.nextPageToken, 1);
    expect(next).toMatchObject({ name });
  });

  it('omit kinds that are not in the filter, and their tokens continue after the omitted changes', async () => {
    const token = await tokenNow(exchange, world.acme);
    await createMeasurement(exchange, world.acme, [world.streamly]);
    await ok(
      exchange.call(world.acme.token, 'PATCH', `/v2alpha/${world.acme.name}`, { displayName: 'Acme' }),
    );
    await changesBehind(exchange, world.acme, token, 3);
    const filtered = (kinds: string, from = token) =>
      page(exchange, world.acme, `${kinds}&pageToken=${from}`);
    const parties = await filtered('filter.kinds=PARTY');
    expect(parties.changes.map(({ kind }: { kind: string }) => kind)).toEqual(['PARTY']);
    const both = await filtered('filter.kinds=PARTY&filter.kinds=MEASUREMENT');
    expect(both.changes).toHaveLength(2);
    const none = await filtered('filter.kinds=CERTIFICATE');
    expect(none).toEqual({ changes: [], nextPageToken: both.nextPageToken });
    expect((await page(exchange, world.acme, `pageToken=${none.nextPageToken}`)).changes).toEqual([]);
  });

  it('can be read only by their party, and their tokens are rejected for other parties', async () => {
    const { acme, globex } = world;
    const token = await tokenNow(exchange, acme);
    const other = await exchange.call(globex.token, 'GET', `/v2alpha/${acme.name}/changes`);
    expect(errorOf(other)).toBe('403 PERMISSION_DENIED PERMISSION_DENIED');
    const foreign = `/v2alpha/${globex.name}/changes?pageToken=${token}`;
    expect(errorOf(await exchange.call(globex.token, 'GET', foreign))).toBe(
      '400 INVALID_ARGUMENT INVALID_PAGE_TOKEN pageToken',
    );
  });

  it('are rejected with CHANGE_TOKEN_EXPIRED if changes after the token were removed', async () => {
    const { globex, database } = { globex: world.globex, database: exchange.database };
    const patch = () =>
      ok(exchange.call(globex.token, 'PATCH', `/v2alpha/${globex.name}`, { displayName: 'Globex' }));
    const oldest = (await page(exchange, globex, 'from=OLDEST&pageSize=1')).nextPageToken;
    await patch();
    await patch();
    const written = await database.query('SELECT 1 FROM changes WHERE party = $1', [globex.name]);
    // Wait for all changes after the oldest token, because transactions of other tests may delay them. The token's
    // position is after the first change, so the number of these changes is one less than the number of all changes.
    const last = await changesBehind(exchange, globex, oldest, written.length - 1);
    const end = (await page(exchange, globex, `pageToken=${oldest}&pageSize=1000`)).nextPageToken;
    await database.query(`SELECT remove_changes($1, 'infinity', 1000)`, [globex.name]);
    const expired = await exchange.call(
      globex.token,
      'GET',
      `/v2alpha/${globex.name}/changes?pageToken=${oldest}`,
    );
    expect(errorOf(expired)).toBe('400 FAILED_PRECONDITION CHANGE_TOKEN_EXPIRED');
    expect(last.length).toBeGreaterThanOrEqual(2);
    // Removing old changes must not affect a reader that has already read all of them.
    expect((await page(exchange, globex, `pageToken=${end}`)).nextPageToken).toBe(end);
    expect((await page(exchange, globex, 'from=OLDEST')).nextPageToken).toBe(end);
    await patch();
    expect(await changesBehind(exchange, globex, end, 1)).toHaveLength(1);
  });

  it('hold back changes after an open transaction until it has committed, and then contain both in order', async () => {
    const { acme } = world;
    const token = await tokenNow(exchange, acme);
    const late = new pg.Client({ connectionString: exchange.database.url });
    await late.connect();
    try {
      await late.query('BEGIN');
      await late.query(
        `INSERT INTO changes (party, name, kind, version, time) VALUES ($1, $1 || '/certificates/late', 'CERTIFICATE', 1, now())`,
        [acme.name],
      );
      const measurement = await createMeasurement(exchange, acme, [world.streamly]);
      expect((await page(exchange, acme, `pageToken=${token}`)).changes).toEqual([]);
      await late.query('COMMIT');
      const found = await changesBehind(exchange, acme, token, 3);
      expect(found.slice(0, 2)).toMatchObject([
        { name: `${acme.name}/certificates/late` },
        { name: measurement.name },
      ]);
    } finally {
      await late.end();
    }
  });
});
