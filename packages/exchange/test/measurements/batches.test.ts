/**
 * Tests batches of new measurements. A batch creates all of its measurements or fails as a whole, and a repeated batch
 * does not create a measurement twice.
 */
import {
  type DevParty,
  measurementRequest,
  type TestExchange,
  UNLIMITED,
  useExchange,
} from '@measurement-exchange/testkit/exchange';
import { startExchangeProcess } from '@measurement-exchange/testkit/process';
import { rounds } from '@measurement-exchange/testkit/rounds';
import { castOf, errorOf, get, metadata, ok, post, signed } from '@measurement-exchange/testkit/steps';
import { describe, expect, it } from 'vitest';

const exchange = useExchange({ rate: UNLIMITED });

type Item = { measurement: object; requestId?: string };
function cast() {
  const { acme, streamly, chirper } = castOf(exchange);
  const item = (requestId?: string, change: object = {}): Item => ({
    measurement: { ...measurementRequest(acme, [streamly, chirper]), ...change },
    ...(requestId && { requestId }),
  });
  const batch = (requests: Item[], query = '') =>
    post(exchange, acme, `${acme.name}/measurements:batchCreate${query}`, { requests });
  const count = async () =>
    Number((await exchange.database.query('SELECT count(*) AS n FROM measurements'))[0]!.n);
  return { acme, item, batch, count };
}
const namesOf = ({ measurements }: { measurements: { name: string }[] }) =>
  measurements.map(({ name }) => name);

describe('a batch of measurements', () => {
  it('is created in the order of its requests, each with its requisitions', async () => {
    const { acme, item, batch } = cast();
    const references = ['first', 'second', 'third'];
    const created = await ok(
      batch(references.map((measurementReferenceId) => item(undefined, { measurementReferenceId }))),
    );
    expect(
      created.measurements.map((m: { measurementReferenceId: string }) => m.measurementReferenceId),
    ).toEqual(references);
    for (const name of namesOf(created)) {
      const { requisitions } = await ok(exchange.call(acme.token, 'GET', `/v2alpha/${name}/requisitions`));
      expect(requisitions).toHaveLength(2);
    }
    const [first] = created.measurements;
    expect(await ok(exchange.call(acme.token, 'GET', `/v2alpha/${first.name}`))).toEqual(first);
  });

  it('returns existing measurements for used request IDs, also of single creates, and creates the rest', async () => {
    const { acme, item, batch, count } = cast();
    const [a, b, c] = [item('a'), item('b'), item('c')] as const;
    const single = await ok(post(exchange, acme, `${acme.name}/measurements?requestId=b`, b.measurement));
    const first = namesOf(await ok(batch([a, b])));
    expect(first[1]).toBe(single.name);
    const before = await count();
    const second = namesOf(await ok(batch([c, b, a])));
    expect(second.slice(1)).toEqual([first[1], first[0]]);
    expect(await count()).toBe(before + 1);
    expect(namesOf(await ok(batch([c, b, a])))).toEqual(second);
    expect(await count()).toBe(before + 1);
  });

  it('is created once if concurrent requests contain it in different orders', async () => {
    const { item, batch, count } = cast();
    const items = Array.from({ length: 8 }, (_, i) => item(`race-${i}`));
    const before = await count();
    const orders = Array.from({ length: 8 }, (_, i) => [...items.slice(i), ...items.slice(0, i)]);
    const answers = await Promise.all(orders.map((order) => ok(batch(order))));
    const idOf = new Map<string, Set<string>>();
    for (const [i, answer] of answers.entries()) {
      for (const [j, name] of namesOf(answer).entries()) {
        const { requestId } = orders[i]![j]!;
        idOf.set(requestId!, (idOf.get(requestId!) ?? new Set()).add(name));
      }
    }
    expect([...idOf.values()].map(({ size }) => size)).toEqual(Array(8).fill(1));
    expect(await count()).toBe(before + 8);
  });

  it('is rejected as a whole for one invalid request, which the error names', async () => {
    const { acme, item, batch, count } = cast();
    const before = await count();
    const foreign = 'measurementConsumers/globex/certificates/x';
    const missing = `${acme.name}/certificates/absent`;
    const fieldsOf = ({ json }: Awaited<ReturnType<typeof batch>>) =>
      json.error.details
        .flatMap((d: { fieldViolations?: { field: string }[] }) => d.fieldViolations ?? [])
        .map(({ field }: { field: string }) => field);
    const bad = await batch([
      item(),
      item('x', { measurementConsumerCertificate: foreign }),
      item('y', { measurementConsumerCertificate: foreign }),
    ]);
    expect(bad.status).toBe(400);
    expect(fieldsOf(bad)).toEqual(
      [1, 2].map((i) => `requests[${i}].measurement.measurementConsumerCertificate`),
    );
    const dangling = await batch([item(), item('x', { measurementConsumerCertificate: missing })]);
    expect(dangling.json.error.status).toBe('FAILED_PRECONDITION');
    expect(dangling.json.error.details[0].metadata.field).toBe(
      'requests[1].measurement.measurementConsumerCertificate',
    );
    expect(fieldsOf(await batch([{ measurement: {} }]))).toContain('requests[0].measurement.measurementSpec');
    expect(fieldsOf(await batch([item('twice'), item('twice')]))).toEqual(['requests[1].requestId']);
    const reused = await batch([item('fresh'), item('a', { measurementReferenceId: 'other' })]);
    expect(reused.json.error.details[0].reason).toBe('REQUEST_ID_REUSED');
    expect(await count()).toBe(before);
  });

  it('has 1 to 50 requests', async () => {
    const { item, batch } = cast();
    expect((await batch([])).status).toBe(400);
    expect((await batch(Array.from({ length: 51 }, () => item()))).status).toBe(400);
    expect(namesOf(await ok(batch(Array.from({ length: 50 }, () => item()))))).toHaveLength(50);
  });

  it('with validateOnly is checked but not created, and does not use up its request IDs', async () => {
    const { item, batch, count } = cast();
    const before = await count();
    const { measurements } = await ok(batch([item('v'), item()], '?validateOnly=true'));
    expect(
      measurements.map(({ name, findings }: { name?: string; findings: object[] }) => [
        name,
        Array.isArray(findings),
      ]),
    ).toEqual([
      [undefined, true],
      [undefined, true],
    ]);
    expect(await count()).toBe(before);
    await ok(batch([item('v', { measurementReferenceId: 'other' })]));
  });
});

describe('a consumer near its limit of open measurements', () => {
  const limited = useExchange({ rate: UNLIMITED, maxOpenMeasurements: 5 });
  it('gets no part of a batch that exceeds the limit, and can repeat a batch that was created', async () => {
    const { acme, streamly } = castOf(limited);
    const requests = ['1', '2', '3'].map((requestId) => ({
      requestId,
      measurement: measurementRequest(acme, [streamly]),
    }));
    const path = `${acme.name}/measurements:batchCreate`;
    const created = await ok(post(limited, acme, path, { requests }));
    const more = requests.map((request) => ({ ...request, requestId: `more-${request.requestId}` }));
    const full = await post(limited, acme, path, { requests: more });
    expect(full.json.error.details[0].reason).toBe('TOO_MANY_OPEN_MEASUREMENTS');
    expect(await ok(post(limited, acme, path, { requests }))).toEqual(created);
    const [{ n }] = (await limited.database.query('SELECT count(*)::int AS n FROM measurements')) as [
      { n: number },
    ];
    expect(n).toBe(3);
  });
});

describe('a finding in one measurement of a batch', () => {
  const strict = useExchange({ rate: UNLIMITED, checks: 'strict' });

  /** Sends a batch of three measurements, of which only the second has a finding. */
  function withOneBad(on: TestExchange, requestId: string, query = '') {
    const { acme, streamly } = castOf(on);
    const measurement = measurementRequest(acme, [streamly]);
    const bad = { ...measurement, measurementSpec: signed(acme, Buffer.from('?')) };
    const requests = [{ measurement }, { measurement: bad, requestId }, { measurement }];
    return post(on, acme, `${acme.name}/measurements:batchCreate${query}`, { requests });
  }

  it('is counted, and shown only in the timeline of that measurement', async () => {
    const { acme } = castOf(exchange);
    const reply = await withOneBad(exchange, 'found');
    const names = namesOf(await ok(reply));
    expect(reply.headers.get('x-mex-findings')).toBe('1');
    const found = await Promise.all(
      names.map(async (name) => (await get(exchange, acme, `${name}:timeline`)).transitions[0].findings),
    );
    expect(found).toMatchObject([
      undefined,
      [{ code: 'SPEC_UNDECODABLE', field: 'measurementSpec.message' }],
      undefined,
    ]);
  });

  it('is returned for that measurement by a batch with validateOnly', async () => {
    for (const on of [exchange, strict]) {
      const { measurements } = await ok(withOneBad(on, 'validated', '?validateOnly=true'));
      expect(
        measurements.map(({ findings }: { findings: { code: string }[] }) =>
          findings.map(({ code }) => code),
        ),
      ).toEqual([[], ['SPEC_UNDECODABLE'], []]);
    }
  });

  it('rejects the whole batch under strict checks, with the index and field of the finding', async () => {
    const reply = await withOneBad(strict, 'bad');
    expect(errorOf(reply)).toBe(
      '400 INVALID_ARGUMENT CHECK_FAILED requests[1].measurement.measurementSpec.message',
    );
    expect(metadata(reply)).toEqual({ codes: 'SPEC_UNDECODABLE' });
    const { acme, streamly } = castOf(strict);
    expect((await get(strict, acme, `${acme.name}/measurements`)).measurements).toEqual([]);
    // A rejected batch does not use up its request IDs.
    const requests = [{ measurement: measurementRequest(acme, [streamly]), requestId: 'bad' }];
    await ok(post(strict, acme, `${acme.name}/measurements:batchCreate`, { requests }));
  });
});

/** The number of batches that clients send at once while the exchange crashes. */
const BATCHES = rounds(30, 10);

it('after a crash, batches retried at another replica exist once, and answered batches are unchanged', async () => {
  const crashing = await startExchangeProcess({
    databaseUrl: exchange.database.url,
    config: { rate: UNLIMITED },
  });
  try {
    // Use the parties of the crashing process, because each process has its own demo certificates and tokens.
    const [acme] = crashing.dev.measurementConsumers as [DevParty];
    const [streamly] = crashing.dev.dataProviders as [DevParty];
    const path = `/v2alpha/${acme.name}/measurements:batchCreate`;
    const batches = Array.from({ length: BATCHES }, (_, i) => ({
      requests: Array.from({ length: 10 }, (_, j) => ({
        measurement: measurementRequest(acme, [streamly]),
        requestId: `crash-${i}-${j}`,
      })),
    }));
    const count = async () =>
      Number(
        (
          await exchange.database.query(
            `SELECT count(*) AS n FROM measurements WHERE request_id LIKE 'crash-%'`,
          )
        )[0]!.n,
      );
    const sent = batches.map((batch) =>
      crashing.call(acme.token, 'POST', path, batch).then(
        (reply) => namesOf(reply.json),
        () => undefined,
      ),
    );
    await Promise.any(sent.map(async (answer) => (await answer) ?? Promise.reject(new Error('no response'))));
    await crashing.kill('SIGKILL');
    const answered = await Promise.all(sent);
    expect((await count()) % 10).toBe(0);

    const { token } = castOf(exchange).acme;
    const again: string[][] = [];
    for (const batch of batches) again.push(namesOf(await ok(exchange.call(token, 'POST', path, batch))));
    for (const [i, names] of answered.entries()) if (names !== undefined) expect(again[i]).toEqual(names);
    expect(new Set(again.flat()).size).toBe(10 * BATCHES);
    expect(await count()).toBe(10 * BATCHES);
  } finally {
    await crashing.remove();
  }
});
