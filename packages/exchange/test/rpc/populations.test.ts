/** Tests Populations and ModelLines over gRPC. */

import { create } from '@bufbuild/protobuf';
import { anyPack, StructSchema } from '@bufbuild/protobuf/wkt';
import {
  DataProviders,
  ModelLine_Type as LineType,
  ModelLines,
  Populations,
} from '@measurement-exchange/contract/rpc';
import { UNLIMITED, useExchange } from '@measurement-exchange/testkit/exchange';
import { asOperator } from '@measurement-exchange/testkit/operator';
import { clientOf, failureOf } from '@measurement-exchange/testkit/rpc';
import { castOf, get, ok } from '@measurement-exchange/testkit/steps';
import { describe, expect, it } from 'vitest';

const exchange = useExchange({ rate: UNLIMITED });
const populationsBy = ({ token }: { token: string }) => clientOf(exchange.dev, Populations, { token });
const linesBy = ({ token }: { token: string }) => clientOf(exchange.dev, ModelLines, { token });
const INVALID = 'invalid_argument INVALID_FIELD_VALUE';
const DENIED = 'permission_denied PERMISSION_DENIED';

const attributes = (fields: Record<string, string | number>) => {
  const values = Object.entries(fields).map(([name, value]) => [
    name,
    { kind: typeof value === 'string' ? { case: 'stringValue', value } : { case: 'numberValue', value } },
  ]);
  return anyPack(StructSchema, create(StructSchema, { fields: Object.fromEntries(values) }));
};
const range = (startVid: bigint, endVidInclusive: bigint) => ({ startVid, endVidInclusive });

describe('a population', () => {
  const young = {
    attributes: [attributes({ age: '18-34', sex: 'F' })],
    vidRanges: [range(1n, 50n), range(91n, 95n)],
  };
  const old = { attributes: [attributes({ age: '35+' })], vidRanges: [range(51n, 90n)] };
  const rest = { attributes: [], vidRanges: [range(96n, 100n)] };
  const request = (subpopulations: object[], more: object = {}) => ({
    population: {
      description: 'People',
      populationSpecRef: { case: 'populationSpec' as const, value: { subpopulations } },
      ...more,
    },
  });

  it('is created by the operator from subpopulations, some without attributes', async () => {
    const { acme, streamly } = castOf(exchange);
    const operator = populationsBy(exchange.dev.operator);
    const made = await operator.createPopulation(request([young, old, rest]));
    expect(made.name).toMatch(/^populations\/[a-z0-9]+$/);
    expect(made).toMatchObject(request([young, old, rest]).population);
    expect(await get(exchange, acme, made.name)).toMatchObject({
      displayName: 'People',
      vidRanges: [
        { start: 1, end: 50 },
        { start: 51, end: 90 },
        { start: 91, end: 95 },
        { start: 96, end: 100 },
      ],
      subpopulations: [
        {
          attributes: [
            { name: 'age', value: '18-34' },
            { name: 'sex', value: 'F' },
          ],
          vidRanges: [
            { start: 1, end: 50 },
            { start: 91, end: 95 },
          ],
        },
        { attributes: [{ name: 'age', value: '35+' }], vidRanges: [{ start: 51, end: 90 }] },
      ],
    });
    for (const party of [acme, streamly]) {
      const client = populationsBy(party);
      expect(await client.getPopulation({ name: made.name })).toEqual(made);
      for (const parent of ['', streamly.name]) {
        expect((await client.listPopulations({ parent })).populations).toContainEqual(made);
      }
      expect(await failureOf(client.createPopulation(request([rest])))).toBe(DENIED);
    }
  });

  it('is rejected with the names of the invalid fields of its spec', async () => {
    const operator = populationsBy(exchange.dev.operator);
    const failure = (subpopulations: object[], more: object = {}) =>
      failureOf(operator.createPopulation({ ...request(subpopulations), ...more }));
    const spec = 'population.population_spec.subpopulations';
    expect(await failure([])).toBe(`${INVALID} ${spec}`);
    expect(await failure([young, { vidRanges: [range(96n, 99n), range(9n, 10n)] }])).toBe(
      `${INVALID} ${spec}[1].vid_ranges[1]`,
    );
    expect(await failure([{ vidRanges: [range(0n, 2n ** 62n)] }])).toBe(
      `${INVALID} ${spec}[0].vid_ranges[0] ${spec}[0].vid_ranges[0]`,
    );
    const withAttributes = (any: object) => failure([{ ...rest, attributes: [any] }]);
    expect(await withAttributes(attributes({ age: 7 }))).toBe(`${INVALID} ${spec}[0].attributes[0].value`);
    expect(await withAttributes({ typeUrl: 'x/y', value: Uint8Array.of(1) })).toBe(
      `${INVALID} ${spec}[0].attributes[0].type_url`,
    );
    const truncated = { ...attributes({ age: 'x' }), value: Uint8Array.of(10, 99) };
    expect(await withAttributes(truncated)).toBe(`${INVALID} ${spec}[0].attributes[0].value`);
    expect(await failure([rest], { requestId: 'x' })).toBe(`${INVALID} request_id`);
    expect(await failure([rest], { parent: 'dataProviders/streamly' })).toBe(`${INVALID} parent`);
    const blob = { case: 'populationBlob' as const, value: { blobUri: 'gs://x' } };
    expect(await failureOf(operator.createPopulation({ population: { populationSpecRef: blob } }))).toBe(
      `${INVALID} population.population_blob`,
    );
  });
});

describe('model lines', () => {
  const SUITE = 'modelProviders/m/modelSuites/s';
  const EVERY = 'modelProviders/-/modelSuites/-';
  const line = (id: string, suite = SUITE) => `${suite}/modelLines/${id}`;
  const at = (iso: string) => ({ seconds: BigInt(Date.parse(iso) / 1000) });
  const names = ({ modelLines }: { modelLines: { name: string }[] }) => modelLines.map(({ name }) => name);

  it('are listed from all populations if their names are resource names', async () => {
    const { acme } = castOf(exchange);
    const vidRanges = [{ start: 1, end: 9 }];
    const add = (modelLines: string[]) =>
      ok(asOperator(exchange, 'POST', 'populations', { vidRanges, modelLines }));
    await add([line('b'), 'not a resource name', line('z', 'modelProviders/m/modelSuites/t')]);
    await add([line('a'), line('c')]);
    const client = linesBy(acme);
    const type = LineType.PROD;
    expect(await client.getModelLine({ name: line('b') })).toMatchObject({ name: line('b'), type });
    expect(await failureOf(client.getModelLine({ name: line('none') }))).toBe(
      'not_found POPULATION_NOT_FOUND',
    );
    expect(await failureOf(client.getModelLine({ name: 'not a resource name' }))).toBe(`${INVALID} name`);

    expect(names(await client.listModelLines({ parent: SUITE }))).toEqual(
      ['a', 'b', 'c'].map((id) => line(id)),
    );
    expect(names(await client.listModelLines({ parent: EVERY }))).toHaveLength(4);
    const typed = (typeIn: LineType[]) => client.listModelLines({ parent: SUITE, filter: { typeIn } });
    expect(names(await typed([LineType.DEV]))).toEqual([]);
    expect(names(await typed([LineType.DEV, LineType.PROD]))).toHaveLength(3);
    const first = await client.listModelLines({ parent: SUITE, pageSize: 2 });
    const { nextPageToken: pageToken } = first;
    expect(names(await client.listModelLines({ parent: SUITE, pageToken }))).toEqual([line('c')]);
    expect(await failureOf(client.listModelLines({ parent: EVERY, pageToken }))).toBe(
      'invalid_argument INVALID_PAGE_TOKEN page_token',
    );
    const forged = Buffer.from(pageToken, 'base64url');
    forged[forged.length - 3]! ^= 1;
    const other = forged.toString('base64url');
    expect(await failureOf(client.listModelLines({ parent: SUITE, pageToken: other }))).toBe(
      'invalid_argument INVALID_PAGE_TOKEN page_token',
    );
    expect(await failureOf(client.listModelLines({ parent: SUITE, pageSize: -1 }))).toBe(
      `${INVALID} page_size`,
    );
    expect(await failureOf(client.createModelLine({}))).toBe('unimplemented METHOD_NOT_ALLOWED');
  });

  it('are valid for an interval in which all data providers have data', async () => {
    const { acme, streamly, chirper } = castOf(exchange);
    const client = linesBy(acme);
    const timeInterval = { startTime: at('2026-02-01T00:00:00Z'), endTime: at('2026-03-01T00:00:00Z') };
    const dataProviders = [streamly.name, chirper.name];
    const valid = async (more: object = {}) =>
      names(await client.enumerateValidModelLines({ parent: SUITE, timeInterval, dataProviders, ...more }));
    expect(await valid()).toEqual([]);
    for (const party of [streamly, chirper]) {
      const provider = clientOf(exchange.dev, DataProviders, { token: party.token });
      const dataAvailabilityInterval = { startTime: at('2026-01-01T00:00:00Z') };
      await provider.replaceDataAvailabilityInterval({ name: party.name, dataAvailabilityInterval });
    }
    expect(await valid()).toEqual(['a', 'b', 'c'].map((id) => line(id)));
    const { token, name } = chirper;
    const late = { startTime: at('2026-02-02T00:00:00Z') };
    await clientOf(exchange.dev, DataProviders, { token }).replaceDataAvailabilityIntervals({
      name,
      dataAvailabilityIntervals: [{ key: line('b'), value: late }],
    });
    expect(await valid()).toEqual([line('a'), line('c')]);
    expect(await valid({ types: [LineType.HOLDBACK] })).toEqual([]);
    expect(await failureOf(valid({ timeInterval: undefined }))).toBe(
      'invalid_argument REQUIRED_FIELD_NOT_SET time_interval.start_time time_interval.end_time',
    );
    expect(await failureOf(valid({ dataProviders: ['x'] }))).toBe(
      'invalid_argument MALFORMED_NAME data_providers[0]',
    );
  });
});
