/** Tests reports: their stored fields, rejected requests, and the state that follows from the measurements. */
import { randomBytes } from 'node:crypto';
import { type DevParty, type Reply, UNLIMITED, useExchange } from '@measurement-exchange/testkit/exchange';
import { reportKey, reportRequest } from '@measurement-exchange/testkit/requests';
import {
  castOf,
  createMeasurement,
  errorOf,
  get,
  metadata,
  ok,
  post,
  refuse,
  requisitionOf,
  stored,
  TIMESTAMP,
} from '@measurement-exchange/testkit/steps';
import { beforeAll, describe, expect, it } from 'vitest';
import { createReport, end, patch, remove, stateOf, succeeded } from './steps.ts';

type Json = Reply['json'];
const INVALID = '400 INVALID_ARGUMENT INVALID_FIELD_VALUE';

const exchange = useExchange({ rate: UNLIMITED });
let acme: DevParty;
let globex: DevParty;
let streamly: DevParty;
let chirper: DevParty;
beforeAll(() => {
  ({ acme, globex, streamly, chirper } = castOf(exchange));
});

const create = (measurements?: Json[], query?: string) => createReport(exchange, acme, measurements, query);
const send = (body: object, query = '') => post(exchange, acme, `${acme.name}/reports${query}`, body);
const update = ({ name, etag }: Json, body: object) => patch(exchange, acme, name, { etag, ...body });
const sealed = (bytes: number) => ({
  ciphertext: randomBytes(bytes).toString('base64'),
  typeUrl: 'x/Sealed',
});
const ask = () => createMeasurement(exchange, acme, [streamly]);

describe('a report', () => {
  it('is stored and returned as it was given, with name, state, etag and times', async () => {
    const measurement = await ask();
    const input = { ...reportRequest([measurement.name]), title: 'Spring', sealedAnswer: sealed(200) };
    const created = await ok(send(input));
    expect(created).toEqual({
      ...input,
      name: expect.stringMatching(new RegExp(`^${acme.name}/reports/[a-z][a-z0-9]+$`)),
      state: 'RUNNING',
      etag: expect.stringMatching(/^\w{20}$/),
      createTime: expect.stringMatching(TIMESTAMP),
      updateTime: created.createTime,
    });
    expect(await get(exchange, acme, created.name)).toEqual(created);
    const { sealedAnswer: _, ...listed } = created;
    const { reports } = await get(exchange, acme, `${acme.name}/reports?pageSize=1`);
    expect(reports).toEqual([listed]);
  });

  it('requires exactly one of definition and sealedDefinition', async () => {
    const { sealedDefinition, ...input } = reportRequest();
    const definition = JSON.stringify({ title: 'Spring' });
    expect((await ok(send({ ...input, definition }))).definition).toBe(definition);
    expect(errorOf(await send(input))).toBe(`${INVALID} sealedDefinition`);
    expect(errorOf(await send({ ...input, definition, sealedDefinition }))).toBe(
      `${INVALID} sealedDefinition`,
    );
  });

  it('gets the chosen reportId, which its consumer cannot reuse, even after the report is deleted', async () => {
    const { name } = await create([], '?reportId=spring');
    expect(name).toBe(`${acme.name}/reports/spring`);
    for (const query of ['?reportId=spring', '?reportId=spring&validateOnly=true']) {
      const again = await send(reportRequest(), query);
      expect(errorOf(again)).toBe('409 ALREADY_EXISTS REPORT_ALREADY_EXISTS');
      expect(metadata(again)).toEqual({ existing: name });
    }
    await ok(remove(exchange, acme, name));
    expect(errorOf(await send(reportRequest(), '?reportId=spring'))).toMatch('REPORT_ALREADY_EXISTS');
    // Another consumer can use the same ID, because each consumer has its own IDs. A consumer therefore does not learn
    // which IDs other consumers use.
    const other = await createReport(exchange, globex, [], '?reportId=spring');
    expect(other.name).toBe(`${globex.name}/reports/spring`);
  });

  it('is created once for a requestId, and again once it is deleted', async () => {
    const input = { ...reportRequest(), requestId: 'once' };
    const first = await ok(send(input));
    expect(await ok(send(input))).toEqual(first);
    expect(errorOf(await send({ ...input, title: 'Other' }))).toBe('409 ALREADY_EXISTS REQUEST_ID_REUSED');
    expect(errorOf(await send(input, '?reportId=other'))).toBe('409 ALREADY_EXISTS REQUEST_ID_REUSED');
    await ok(remove(exchange, acme, first.name));
    const second = await ok(send(input));
    expect(second.name).not.toBe(first.name);
  });

  it('is not created, updated or deleted with validateOnly', async () => {
    const report = await create();
    const before = await stored(exchange);
    expect(await ok(send(reportRequest(), '?validateOnly=true'))).toMatchObject({
      state: 'PLANNED',
      findings: [],
    });
    const renamed = await ok(
      patch(exchange, acme, `${report.name}?validateOnly=true`, { etag: report.etag, title: 'x' }),
    );
    expect(renamed).toMatchObject({ title: 'x', findings: [] });
    expect(renamed).not.toHaveProperty('etag');
    await ok(remove(exchange, acme, `${report.name}?validateOnly=true`));
    expect(await stored(exchange)).toEqual(before);
  });

  it('is rejected if a field exceeds its limit, or definitionHash has the wrong length', async () => {
    const input = reportRequest();
    const { sealedDefinition: _, ...open } = input;
    await ok(send({ ...input, sealedDefinition: sealed(64 * 1024), sealedAnswer: sealed(1024 * 1024) }));
    await ok(send({ ...open, definition: 'x'.repeat(64 * 1024) }));
    const wrong: [object, string][] = [
      [{ ...input, sealedDefinition: sealed(64 * 1024 + 1) }, 'sealedDefinition.ciphertext'],
      [{ ...input, sealedAnswer: sealed(1024 * 1024 + 1) }, 'sealedAnswer.ciphertext'],
      [{ ...open, definition: 'ä'.repeat(32 * 1024 + 1) }, 'definition'],
      [{ ...input, title: 'x'.repeat(257) }, 'title'],
      [{ ...input, definitionHash: randomBytes(31).toString('base64') }, 'definitionHash'],
    ];
    for (const [body, field] of wrong) expect(errorOf(await send(body))).toBe(`${INVALID} ${field}`);
  });

  it('is not found after deletion, its content is erased, and its measurements are unchanged', async () => {
    const measurement = await ask();
    const report = await create([measurement]);
    expect(await ok(remove(exchange, acme, report.name))).toEqual(report);
    const missing = '404 NOT_FOUND REPORT_NOT_FOUND';
    expect(errorOf(await exchange.call(acme.token, 'GET', `/v2alpha/${report.name}`))).toBe(missing);
    expect(errorOf(await update(report, { title: 'x' }))).toBe(missing);
    expect(errorOf(await remove(exchange, acme, report.name))).toBe(missing);
    const { reports } = await get(exchange, acme, `${acme.name}/reports?pageSize=1000`);
    expect(reports.map(({ name }: Json) => name)).not.toContain(report.name);
    expect((await get(exchange, acme, measurement.name)).state).toBe('AWAITING_REQUISITION_FULFILLMENT');
    const [row] = await exchange.database.query(`SELECT r::text AS row FROM reports r WHERE id = $1`, [
      report.name.split('/').at(-1)!,
    ]);
    expect(row!.row).toMatch(/^\([^(]*,,,,,,,0,DELETED,/);
  });

  it('is rejected with TOO_MANY_REPORTS if its consumer has 10,000 reports', async () => {
    await exchange.database.query(
      `INSERT INTO reports (consumer, id, definition, definition_hash, measurement_count, state, revision, version,
         create_time, update_time)
       SELECT $1, 'many' || n, '{}', sha256('a'), 0, 'PLANNED', 1, 1, now(), now() FROM generate_series(1, 9999) AS n`,
      [globex.name],
    );
    const many = await post(exchange, globex, `${globex.name}/reports`, reportRequest());
    expect(errorOf(many)).toBe('400 FAILED_PRECONDITION TOO_MANY_REPORTS');
    await exchange.database.query(`DELETE FROM reports WHERE id LIKE 'many%'`);
  });
});

describe('the measurements of a report', () => {
  it('are appended in order, and are unchanged if an update repeats them', async () => {
    const [first, second] = [await ask(), await ask()];
    const report = await create([first]);
    const added = { key: reportKey(), measurement: second.name };
    const all = [...report.measurements, added];
    const appended = await ok(update(report, { measurements: [added] }));
    expect(appended.measurements).toEqual(all);
    expect(appended.etag).not.toBe(report.etag);
    const repeated = await ok(update(appended, { measurements: all }));
    expect(repeated.measurements).toEqual(all);
    expect(await get(exchange, acme, report.name)).toEqual(repeated);
  });

  it('are never replaced: another measurement with an existing key is rejected', async () => {
    const [first, second] = [await ask(), await ask()];
    const report = await create([first]);
    const measurements = [
      { key: reportKey(), measurement: second.name },
      { ...report.measurements[0], measurement: second.name },
    ];
    expect(errorOf(await update(report, { measurements }))).toBe(`${INVALID} measurements[1].measurement`);
    expect(await get(exchange, acme, report.name)).toEqual(report);
  });

  it('must exist, belong to the consumer, and have distinct keys of 64 digits', async () => {
    const { name } = await ask();
    const foreign = await createMeasurement(exchange, globex, [streamly]);
    const report = await create();
    const key = reportKey();
    const wrong: [object[], string][] = [
      [[{ key, measurement: foreign.name }], `${INVALID} measurements[0].measurement`],
      [[{ key: key.toUpperCase(), measurement: name }], `${INVALID} measurements[0].key`],
      [[{ key: key.slice(1), measurement: name }], `${INVALID} measurements[0].key`],
      [
        [
          { key, measurement: name },
          { key, measurement: name },
        ],
        `${INVALID} measurements[1].key`,
      ],
      [
        [{ key, measurement: `${acme.name}/measurements/none` }],
        '400 FAILED_PRECONDITION MEASUREMENT_NOT_FOUND',
      ],
    ];
    for (const [measurements, error] of wrong) {
      expect(errorOf(await update(report, { measurements }))).toBe(error);
      expect(errorOf(await send({ ...reportRequest(), measurements }))).toBe(error);
    }
    // A measurement of another consumer is rejected because of its name, so the error does not reveal whether the
    // measurement exists.
    const absent = [{ key, measurement: `${globex.name}/measurements/none` }];
    expect(errorOf(await update(report, { measurements: absent }))).toBe(wrong[0]![1]);
  });

  it('are limited to 5,000', async () => {
    const { name } = await ask();
    const entries = (count: number) =>
      Array.from({ length: count }, () => ({ key: reportKey(), measurement: name }));
    const report = await ok(send({ ...reportRequest(), measurements: entries(5_000) }));
    expect(report.measurements).toHaveLength(5_000);
    expect(errorOf(await update(report, { measurements: entries(1) }))).toBe(`${INVALID} measurements`);
    expect(errorOf(await send({ ...reportRequest(), measurements: entries(5_001) }))).toBe(
      `${INVALID} measurements`,
    );
  });
});

describe('an update of a report', () => {
  it('requires the current etag', async () => {
    const report = await create();
    const renamed = await ok(update(report, { title: 'First' }));
    const stale = await update(report, { title: 'Second' });
    expect(errorOf(stale)).toBe('409 ABORTED REPORT_ETAG_MISMATCH');
    expect(metadata(stale)).toEqual({ requestEtag: report.etag, actualEtag: renamed.etag });
    const none = await patch(exchange, acme, report.name, { title: 'x' });
    expect(errorOf(none)).toBe('400 INVALID_ARGUMENT REQUIRED_FIELD_NOT_SET etag');
    expect((await get(exchange, acme, report.name)).title).toBe('First');
  });

  it('is accepted after a measurement has ended, which changes neither etag nor updateTime', async () => {
    const measurement = await ask();
    const report = await create([measurement]);
    await end(exchange, streamly, measurement);
    expect(await get(exchange, acme, report.name)).toEqual({ ...report, state: 'COMPLETE' });
    await ok(update(report, { sealedAnswer: sealed(100) }));
  });

  it('replaces title and sealedAnswer, and keeps the one that it omits', async () => {
    const [title, sealedAnswer] = ['Spring', sealed(1000)];
    const first = await ok(update(await create(), { title, sealedAnswer }));
    const second = await ok(update(first, { title: 'Summer' }));
    expect(second).toMatchObject({ title: 'Summer', sealedAnswer });
    const third = await ok(update(second, { sealedAnswer: sealed(2000) }));
    expect(third.title).toBe('Summer');
    expect(third.sealedAnswer).not.toEqual(sealedAnswer);
  });

  it('accepts the unchanged definition, and rejects another one', async () => {
    const report = await create();
    const same = await ok(update(report, { ...report, title: 'x' }));
    const { sealedDefinition, definitionHash } = reportRequest();
    const wrong: [object, string][] = [
      [{ sealedDefinition }, 'sealedDefinition.ciphertext'],
      [{ definitionHash }, 'definitionHash'],
      [{ definition: '{}' }, 'definition'],
    ];
    for (const [body, field] of wrong) expect(errorOf(await update(same, body))).toBe(`${INVALID} ${field}`);
  });
});

describe('the state of a report', () => {
  it('is PLANNED, RUNNING, COMPLETE and RUNNING again, as measurements are appended and end', async () => {
    const report = await create();
    expect(report.state).toBe('PLANNED');
    const [first, second] = [await ask(), await ask()];
    const both = [first, second].map(({ name }) => ({ key: reportKey(), measurement: name }));
    const running = await ok(update(report, { measurements: both }));
    expect(running.state).toBe('RUNNING');
    await end(exchange, streamly, second);
    expect(await stateOf(exchange, acme, report)).toBe('RUNNING');
    await end(exchange, streamly, first);
    expect(await stateOf(exchange, acme, report)).toBe('COMPLETE');
    const answered = await succeeded(exchange, acme, streamly);
    const more = await ok(
      update(running, { measurements: [{ key: reportKey(), measurement: answered.name }] }),
    );
    expect(more.state).toBe('COMPLETE');
    const open = { key: reportKey(), measurement: (await ask()).name };
    expect((await ok(update(more, { measurements: [open] }))).state).toBe('RUNNING');
  });

  it.each(['cancelled', 'refused'])('is INCOMPLETE once a measurement was %s', async (how) => {
    const good = await succeeded(exchange, acme, streamly);
    const measurement = await createMeasurement(exchange, acme, [chirper]);
    const report = await create([measurement, good]);
    expect(report.state).toBe('RUNNING');
    if (how === 'cancelled') await ok(post(exchange, acme, `${measurement.name}:cancel`));
    else await ok(refuse(exchange, chirper, await requisitionOf(exchange, chirper, measurement)));
    expect(await stateOf(exchange, acme, report)).toBe('INCOMPLETE');
  });

  it('filters the list of reports, which is ordered newest first', async () => {
    const planned = [await create(), await create()];
    const complete = await create([await succeeded(exchange, acme, streamly)]);
    const list = async (query: string): Promise<string[]> => {
      const { reports } = await get(exchange, acme, `${acme.name}/reports?pageSize=1000${query}`);
      return reports.map(({ name }: Json) => name);
    };
    const names = [complete, ...planned.toReversed()].map(({ name }) => name);
    expect((await list('')).slice(0, 3)).toEqual(names);
    expect((await list('&filter.states=PLANNED')).slice(0, 2)).toEqual(names.slice(1));
    expect((await list('&filter.states=COMPLETE'))[0]).toBe(names[0]);
    expect(await list('&filter.states=RUNNING')).not.toContain(names[0]);
  });
});
