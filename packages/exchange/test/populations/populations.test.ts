/**
 * Tests populations over HTTP: their fields, which fields can change, their model lines, and the default population.
 */
import { createHash } from 'node:crypto';
import { MAX_VID } from '@measurement-exchange/contract';
import { type DevParty, type Reply, UNLIMITED, useExchange } from '@measurement-exchange/testkit/exchange';
import { asOperator, listAll } from '@measurement-exchange/testkit/operator';
import { castOf, errorOf, get, metadata, ok, stored, TIMESTAMP } from '@measurement-exchange/testkit/steps';
import { beforeAll, describe, expect, it } from 'vitest';

type Json = Reply['json'];
let acme: DevParty;
let streamly: DevParty;

const exchange = useExchange({ rate: UNLIMITED });
beforeAll(() => {
  ({ acme, streamly } = castOf(exchange));
});

const operator = (method: string, path: string, body?: unknown) => asOperator(exchange, method, path, body);
const ranges = (...all: [number, number][]) => all.map(([start, end]) => ({ start, end }));
const create = (id: string, body: object = {}) =>
  operator('POST', `populations?populationId=${id}`, { vidRanges: ranges([1, 100]), ...body });
const change = (id: string, body: object) => operator('PATCH', `populations/${id}`, body);
const read = (id: string): Promise<Json> => get(exchange, acme, `populations/${id}`);
const defaults = async () =>
  (await listAll(exchange, 'populations')).filter((p) => p.default).map((p) => p.name);

describe('a population', () => {
  it('can be created by the operator, and read by consumers and providers', async () => {
    const vidRanges = ranges([21, 30], [1, 10]);
    const body = { displayName: 'People', vidRanges, modelLines: ['created/b', 'created/a'] };
    const made = await ok(create('created', body));
    const bytes = Buffer.from('000000010000000a000000150000001e', 'hex');
    expect(made).toEqual({
      name: 'populations/created',
      displayName: 'People',
      modelLines: ['created/b', 'created/a'],
      default: false,
      vidRanges: vidRanges.toReversed(),
      size: 20,
      fingerprint: createHash('sha256').update(bytes).digest('base64'),
      createTime: expect.stringMatching(TIMESTAMP),
      updateTime: made.createTime,
    });
    for (const party of [acme, streamly]) {
      expect(await get(exchange, party, 'populations/created')).toEqual(made);
      expect((await get(exchange, party, 'populations?pageSize=1000')).populations).toContainEqual(made);
    }
    expect((await ok(operator('POST', 'populations', { population: { vidRanges } }))).name).toMatch(
      /^populations\/[a-z][a-z0-9]+$/,
    );
  });

  it('is rejected with POPULATION_ALREADY_EXISTS if its ID exists', async () => {
    await ok(create('once'));
    const reply = await create('once', { vidRanges: ranges([5, 6]) });
    expect(errorOf(reply)).toBe('409 ALREADY_EXISTS POPULATION_ALREADY_EXISTS');
    expect(metadata(reply)).toEqual({ existing: 'populations/once' });
  });

  it('is updated field by field: absent fields stay unchanged, and its ranges can never change', async () => {
    const made = await ok(
      create('updated', { displayName: 'First', modelLines: ['updated/a', 'updated/b'] }),
    );
    let expected = made;
    for (const body of [
      { displayName: 'Second' },
      { modelLines: ['updated/c', 'updated/b'] },
      { modelLines: [] },
      { population: { displayName: '' } },
      {},
    ]) {
      const after = await ok(change('updated', body));
      const given: object = 'population' in body ? body.population! : body;
      expected = { ...expected, ...given, updateTime: after.updateTime };
      expect(after).toEqual(expected);
      expect(after.updateTime > made.createTime).toBe(true);
      expect(await read('updated')).toEqual(expected);
    }
    // A client is allowed to send back a population that it read, including output-only fields.
    const again = await ok(change('updated', expected));
    expect(again).toEqual({ ...expected, updateTime: again.updateTime });
    expect(errorOf(await change('updated', { vidRanges: ranges([1, 101]) }))).toBe(
      '400 INVALID_ARGUMENT INVALID_FIELD_VALUE vidRanges',
    );
    await expect(
      exchange.database.query(
        `UPDATE populations SET vid_ranges = '[{"start": 1, "end": 101}]' WHERE id = 'updated'`,
      ),
    ).rejects.toThrow('the ranges of population updated never change');
  });

  it('may have subpopulations with attributes, which never change', async () => {
    const subpopulations = [
      { attributes: [{ name: 'age', value: '18-34' }], vidRanges: ranges([1, 20]) },
      { attributes: [{ name: 'age', value: '35+' }], vidRanges: ranges([21, 90]) },
    ];
    const made = await ok(create('grouped', { subpopulations }));
    expect(made.subpopulations).toEqual(subpopulations);
    expect(await read('grouped')).toEqual(made);
    expect(await ok(change('grouped', made))).toMatchObject({ subpopulations });
    expect(errorOf(await change('grouped', { subpopulations: subpopulations.slice(1) }))).toBe(
      '400 INVALID_ARGUMENT INVALID_FIELD_VALUE subpopulations',
    );
    await expect(
      exchange.database.query(`UPDATE populations SET subpopulations = '[]' WHERE id = 'grouped'`),
    ).rejects.toThrow('the ranges of population grouped never change');
    const [first] = subpopulations;
    for (const [wrong, field] of [
      [{ ...first, vidRanges: ranges([95, 101]) }, 'subpopulations[0].vidRanges[0]'],
      [{ ...first, vidRanges: [] }, 'subpopulations[0].vidRanges'],
      [{ ...first, attributes: [] }, 'subpopulations[0].attributes'],
      [{ ...first, attributes: [{ name: '1', value: 'x' }] }, 'subpopulations[0].attributes[0].name'],
      [{ ...first, attributes: [{ name: 'a', value: '' }] }, 'subpopulations[0].attributes[0].value'],
    ] as const) {
      expect(errorOf(await create('wrong', { subpopulations: [wrong] }))).toBe(
        `400 INVALID_ARGUMENT INVALID_FIELD_VALUE ${field}`,
      );
    }
  });

  it('is reported as NOT_FOUND by GET and PATCH if it does not exist', async () => {
    for (const reply of [
      await operator('GET', 'populations/nobody'),
      await change('nobody', { displayName: 'x' }),
    ]) {
      expect(errorOf(reply)).toBe('404 NOT_FOUND POPULATION_NOT_FOUND');
      expect(metadata(reply)).toEqual({ population: 'populations/nobody' });
    }
  });

  it.each<[string, unknown, string]>([
    ['no vidRanges', undefined, 'REQUIRED_FIELD_NOT_SET vidRanges'],
    ['an empty list of ranges', [], 'INVALID_FIELD_VALUE vidRanges'],
    ['an object instead of a list of ranges', { start: 1, end: 2 }, 'INVALID_FIELD_VALUE vidRanges'],
    [
      '1,001 ranges',
      ranges(...Array.from({ length: 1001 }, (_, i) => [2 * i + 1, 2 * i + 1] as [number, number])),
      'INVALID_FIELD_VALUE vidRanges',
    ],
    ['VID 0', ranges([0, 5]), 'INVALID_FIELD_VALUE vidRanges[0].start'],
    ['a negative VID', ranges([-5, 5]), 'INVALID_FIELD_VALUE vidRanges[0].start'],
    ['VID 2^31 - 1', ranges([1, MAX_VID + 1]), 'INVALID_FIELD_VALUE vidRanges[0].end'],
    ['VID 2^60', ranges([1, 2 ** 60]), 'INVALID_FIELD_VALUE vidRanges[0].end'],
    ['a fractional VID', [{ start: 1, end: 2.5 }], 'INVALID_FIELD_VALUE vidRanges[0].end'],
    ['a string as VID', [{ start: '1', end: 2 }], 'INVALID_FIELD_VALUE vidRanges[0].start'],
    ['a range without an end', [{ start: 1 }], 'REQUIRED_FIELD_NOT_SET vidRanges[0].end'],
    ['an unknown field in a range', [{ start: 1, end: 2, step: 2 }], 'INVALID_FIELD_VALUE vidRanges[0].step'],
    ['a reversed range', ranges([1, 2], [9, 8]), 'INVALID_FIELD_VALUE vidRanges[1].end'],
    ['ranges that overlap', ranges([10, 20], [30, 40], [20, 25]), 'INVALID_FIELD_VALUE vidRanges[2]'],
    ['the same range twice', ranges([1, 2], [1, 2]), 'INVALID_FIELD_VALUE vidRanges[1]'],
  ])('with %s is rejected', async (_, vidRanges, error) => {
    const before = await stored(exchange);
    expect(errorOf(await create('rejected', { vidRanges }))).toBe(`400 INVALID_ARGUMENT ${error}`);
    expect(await stored(exchange)).toEqual(before);
  });

  it('can have 1,000 ranges, and VIDs up to MAX_VID', async () => {
    const many = Array.from({ length: 1000 }, (_, i) => [2 * i + 1, 2 * i + 1] as [number, number]);
    expect(await ok(create('many', { vidRanges: ranges(...many) }))).toMatchObject({ size: 1000 });
    expect(await ok(create('everybody', { vidRanges: ranges([1, MAX_VID]) }))).toMatchObject({
      size: MAX_VID,
    });
  });

  it('is validated but not stored with validateOnly', async () => {
    const before = await stored(exchange);
    const tried = await ok(
      operator('POST', 'populations?validateOnly=true', { vidRanges: ranges([1, 9]), default: true }),
    );
    expect(tried).toMatchObject({ size: 9, default: true, findings: [] });
    expect(tried).not.toHaveProperty('name');
    const taken = await operator('POST', 'populations?validateOnly=true&populationId=once', {
      vidRanges: ranges([1, 9]),
    });
    expect(errorOf(taken)).toBe('409 ALREADY_EXISTS POPULATION_ALREADY_EXISTS');
    expect(await stored(exchange)).toEqual(before);
  });
});

describe('a model line', () => {
  it('belongs to at most one population', async () => {
    await ok(create('owner', { modelLines: ['lines/a', 'lines/b'] }));
    const body = { modelLines: ['lines/c', 'lines/b'] };
    await ok(create('other', { modelLines: ['lines/d'] }));
    for (const reply of [await create('third', body), await change('other', body)]) {
      expect(errorOf(reply)).toBe('409 ALREADY_EXISTS MODEL_LINE_TAKEN modelLines[1]');
      expect(metadata(reply)).toEqual({ existing: 'populations/owner' });
    }
    expect((await read('other')).modelLines).toEqual(['lines/d']);
    await ok(change('owner', { modelLines: ['lines/a'] }));
    expect((await ok(change('other', body))).modelLines).toEqual(['lines/c', 'lines/b']);
  });

  it.each<[string, unknown, string]>([
    ['empty', [''], 'modelLines[0]'],
    ['256 characters long', ['x'.repeat(256)], 'modelLines[0]'],
    ['a duplicate', ['twice/a', 'twice/a'], 'modelLines[1]'],
    ['one of 1,001', Array.from({ length: 1001 }, (_, i) => `many/${i}`), 'modelLines'],
    ['not a string', [7], 'modelLines[0]'],
  ])('is rejected if it is %s', async (_, modelLines, field) => {
    const error = `400 INVALID_ARGUMENT INVALID_FIELD_VALUE ${field}`;
    expect(errorOf(await create('lines', { modelLines }))).toBe(error);
    expect(errorOf(await change('other', { modelLines }))).toBe(error);
  });

  it('is accepted in exactly one of 8 concurrent creates that name it', async () => {
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, i) => create(`wants${i}`, { modelLines: ['wanted'] })),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const reply of replies.filter(({ status }) => status !== 200)) {
      expect(errorOf(reply)).toBe('409 ALREADY_EXISTS MODEL_LINE_TAKEN modelLines[0]');
    }
  });
});

describe('the default population', () => {
  it('is replaced when another population becomes the default', async () => {
    const first = await ok(create('default1', { default: true }));
    expect(await defaults()).toEqual([first.name]);
    await ok(create('default2', { default: true }));
    expect(await defaults()).toEqual(['populations/default2']);
    const former = await read('default1');
    expect(former).toEqual({ ...first, default: false, updateTime: former.updateTime });
    expect(former.updateTime > first.updateTime).toBe(true);
    await ok(change('default1', { default: true }));
    await ok(change('default1', { default: true }));
    expect(await defaults()).toEqual(['populations/default1']);
    await ok(change('default1', { default: false }));
    expect(await defaults()).toEqual([]);
  });

  it('is unique after 10 concurrent requests to set it, and every change has an audit entry', async () => {
    await ok(create('race'));
    for (let round = 0; round < 4; round++) {
      // Remove the existing default first. Otherwise the row of that default would make the requests wait for each
      // other. Without that row, the exchange prevents two defaults only if it runs the requests one after another.
      for (const name of await defaults()) await ok(operator('PATCH', name, { default: false }));
      const replies = await Promise.all(
        Array.from({ length: 10 }, (_, i) =>
          i % 3 === 0
            ? change('race', { default: true, displayName: `${i}` })
            : create(`race${round}${i}`, { default: true }),
        ),
      );
      expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
      expect(await defaults()).toHaveLength(1);
    }
    const rows = await exchange.database.query(
      `SELECT id, version, (SELECT count(*)::int FROM audit_entries WHERE name = 'populations/' || id) AS entries
         FROM populations WHERE id LIKE 'race%'`,
    );
    expect(rows).toHaveLength(25);
    for (const { id, version, entries } of rows) expect(entries, id as string).toBe(version);
  });
});
