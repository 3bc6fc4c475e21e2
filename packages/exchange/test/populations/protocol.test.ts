/**
 * Tests which protocol the exchange chooses for a measurement, and what the parties of the measurement see of it. Also
 * tests that the exchange does not start with duchies that do not exist or have no endpoint.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { specs, type Timeline } from '@measurement-exchange/contract';
import {
  createDatabase,
  type Database,
  type DevParty,
  measurementRequest,
  nonceHash,
  UNLIMITED,
} from '@measurement-exchange/testkit/exchange';
import { asOperator } from '@measurement-exchange/testkit/operator';
import {
  addDuchies,
  SHARE_SHUFFLE,
  supportShareShuffle,
  useShareShuffle,
} from '@measurement-exchange/testkit/shareShuffle';
import {
  castOf,
  errorOf,
  fulfill,
  get,
  ok,
  post,
  requisitionOf,
  signed,
} from '@measurement-exchange/testkit/steps';
import { beforeAll, describe, expect, it } from 'vitest';
import { type ConfigError, loadConfig } from '../../src/config/config.ts';
import { createLog, start } from '../../src/index.ts';

let acme: DevParty;
let streamly: DevParty;
let chirper: DevParty;
let dailynews: DevParty;

const exchange = useShareShuffle({ rate: UNLIMITED });
beforeAll(async () => {
  ({ acme, streamly, chirper, dailynews } = castOf(exchange));
  await supportShareShuffle(exchange, [streamly, chirper]);
});

const operator = (method: string, path: string, body?: unknown) => asOperator(exchange, method, path, body);

type SpecInit = Exclude<MessageInitShape<typeof specs.MeasurementSpecSchema>, specs.MeasurementSpec>;
const params = { epsilon: 0.5, delta: 1e-9 };
const REACH = { case: 'reach', value: { privacyParams: params } } as const;
const frequency = (maximumFrequency: number) =>
  ({
    case: 'reachAndFrequency',
    value: { reachPrivacyParams: params, frequencyPrivacyParams: params, maximumFrequency },
  }) as const;

/**
 * Creates a reach measurement for the two providers that support share-shuffle, unless `spec` or `providers` say
 * otherwise.
 */
async function measure(spec: SpecInit = {}, providers = [streamly, chirper]) {
  const message = toBinary(
    specs.MeasurementSpecSchema,
    create(specs.MeasurementSpecSchema, {
      serializedMeasurementPublicKey: Uint8Array.of(1),
      nonceHashes: providers.map((_, i) => Buffer.from(nonceHash(BigInt(i + 1)), 'base64')),
      vidSamplingInterval: { start: 0, width: 1 },
      measurementType: REACH,
      ...spec,
    }),
  );
  return send({ ...measurementRequest(acme, providers), measurementSpec: signed(acme, message) });
}

function send(request: ReturnType<typeof measurementRequest>) {
  return ok(post(exchange, acme, `${acme.name}/measurements`, request));
}

/** Returns the findings in the measurement's timeline, which come from its creation. */
async function findingsOf(measurement: { name: string }): Promise<string[]> {
  const timeline = await get(exchange, acme, `${measurement.name}:timeline`);
  return (timeline.transitions as Timeline['transitions'])
    .flatMap(({ findings = [] }) => findings)
    .map(({ code, field }) => `${code} ${field}`);
}

describe('a measurement if no population exists', () => {
  it('is direct, and has findings with the reason', async () => {
    const measurement = await measure();
    expect(measurement.protocolConfig).toEqual({ measurementType: 'REACH', direct: {} });
    expect(await findingsOf(measurement)).toEqual([
      'PROTOCOL_NOT_USED measurementSpec.message.modelLine',
      'REACH_NOT_DEDUPLICATED dataProviders',
    ]);
  });
});

describe('a measurement if populations exist', () => {
  const { reachRingModulus, reachAndFrequencyRingModulus: _, ...roles } = SHARE_SHUFFLE;
  let fingerprints: Record<string, string>;
  beforeAll(async () => {
    fingerprints = {};
    for (const [id, end, body] of [
      ['everybody', 1000, { default: true }],
      ['line', 2000, { modelLines: ['modelLines/a'] }],
    ] as const) {
      const vidRanges = [{ start: 1, end }];
      const made = await ok(operator('POST', `populations?populationId=${id}`, { vidRanges, ...body }));
      fingerprints[id] = made.fingerprint;
    }
  });
  const config = (id: string) => ({
    ...roles,
    ringModulus: reachRingModulus,
    population: `populations/${id}`,
    populationFingerprint: fingerprints[id],
  });

  it('shows its protocol and population, also in requisitions, and rejects a direct fulfillment', async () => {
    const measurement = await measure();
    const protocolConfig = { measurementType: 'REACH', honestMajorityShareShuffle: config('everybody') };
    expect(measurement.protocolConfig).toEqual(protocolConfig);
    expect((await get(exchange, acme, measurement.name)).protocolConfig).toEqual(protocolConfig);
    const { measurements } = await get(exchange, acme, `${acme.name}/measurements?pageSize=1000`);
    expect(measurements.at(-1).protocolConfig).toEqual(protocolConfig);
    const requisition = await requisitionOf(exchange, streamly, measurement);
    expect(requisition).toMatchObject({ state: 'UNFULFILLED', protocolConfig });
    expect(await findingsOf(measurement)).toEqual([]);
    expect(errorOf(await fulfill(exchange, streamly, requisition, 1n))).toBe(
      '400 FAILED_PRECONDITION PROTOCOL_NOT_DIRECT',
    );
  });

  it('uses the population of its model line, and is direct if no population has this model line', async () => {
    const { protocolConfig } = await measure({ modelLine: 'modelLines/a' });
    expect(protocolConfig.honestMajorityShareShuffle).toEqual(config('line'));
    const unknown = await measure({ modelLine: 'modelLines/b' });
    expect(unknown.protocolConfig).toEqual({ measurementType: 'REACH', direct: {} });
    await ok(operator('PATCH', 'populations/line', { modelLines: ['modelLines/b'] }));
    const moved = await measure({ modelLine: 'modelLines/b' });
    expect(moved.protocolConfig.honestMajorityShareShuffle).toEqual(config('line'));
  });

  it('can have a sampling interval that wraps around, for which a direct measurement gets a finding', async () => {
    const vidSamplingInterval = { start: 0.75, width: 0.5 };
    const wrapping = await measure({ vidSamplingInterval });
    expect(wrapping.protocolConfig.honestMajorityShareShuffle).toEqual(config('everybody'));
    expect(await findingsOf(wrapping)).toEqual([]);
    expect(await findingsOf(await measure({ vidSamplingInterval }, [streamly]))).toEqual([
      'SPEC_PARAMETER_INVALID measurementSpec.message.vidSamplingInterval',
    ]);
  });

  it('keeps its population when the default population changes', async () => {
    const measurement = await measure();
    await ok(operator('PATCH', 'populations/line', { default: true }));
    expect((await measure()).protocolConfig.honestMajorityShareShuffle).toEqual(config('line'));
    expect((await get(exchange, acme, measurement.name)).protocolConfig).toEqual(measurement.protocolConfig);
    await ok(operator('PATCH', 'populations/everybody', { default: true }));
  });

  it('is direct if a provider does not support the protocol, or maximumFrequency is out of range', async () => {
    const at = 'measurementSpec.message.reachAndFrequency.maximumFrequency';
    for (const [spec, providers, field] of [
      [{}, [streamly, dailynews], `dataProviders[${dailynews.name}]`],
      [{ measurementType: frequency(63) }, [streamly, chirper], at],
      [{ measurementType: frequency(1) }, [streamly, chirper], at],
    ] as const) {
      const measurement = await measure(spec as SpecInit, [...providers]);
      expect(measurement.protocolConfig.direct).toEqual({});
      expect(await findingsOf(measurement)).toContain(`PROTOCOL_NOT_USED ${field}`);
    }
    const fits = await measure({ measurementType: frequency(62) });
    expect(fits.protocolConfig).toMatchObject({
      measurementType: 'REACH_AND_FREQUENCY',
      honestMajorityShareShuffle: { ringModulus: 127 },
    });
    expect((await measure({}, [streamly])).protocolConfig).toEqual({ measurementType: 'REACH', direct: {} });
  });

  it('is direct if duchies would reject its spec or its signature', async () => {
    const at = 'measurementSpec.message';
    for (const [spec, field] of [
      [{ vidSamplingInterval: { start: 0.5, width: 0.0009 } }, `${at}.vidSamplingInterval.width`],
      [{ nonceHashes: [] }, `${at}.nonceHashes`],
      [{ serializedMeasurementPublicKey: new Uint8Array() }, `${at}.measurementPublicKey`],
    ] as const) {
      const measurement = await measure(spec as SpecInit);
      expect(measurement.protocolConfig.direct).toEqual({});
      expect(await findingsOf(measurement)).toContain(`PROTOCOL_NOT_USED ${field}`);
    }
    const request = measurementRequest(acme, [streamly, chirper]);
    request.measurementSpec.signature = measurementRequest(acme, [chirper]).measurementSpec.signature;
    const unsigned = await send(request);
    expect(unsigned.protocolConfig.direct).toEqual({});
    expect(await findingsOf(unsigned)).toContain('PROTOCOL_NOT_USED measurementSpec.signature');
  });

  it('is direct while a duchy is suspended', async () => {
    await ok(operator('POST', `${SHARE_SHUFFLE.secondWorker}:suspend`));
    const measurement = await measure();
    expect(measurement.protocolConfig).toEqual({ measurementType: 'REACH', direct: {} });
    expect(await findingsOf(measurement)).toContain('PROTOCOL_NOT_USED protocolConfig');
    await ok(operator('POST', `${SHARE_SHUFFLE.secondWorker}:resume`));
    expect((await measure()).protocolConfig.direct).toBeUndefined();
  });

  it('keeps its protocol when it is cancelled, and when a requisition is refused', async () => {
    const measurement = await measure();
    const cancelled = await ok(post(exchange, acme, `${measurement.name}:cancel`));
    expect(cancelled).toMatchObject({ state: 'CANCELLED', protocolConfig: measurement.protocolConfig });
    const other = await measure();
    const { name, etag } = await requisitionOf(exchange, chirper, other);
    const refusal = { justification: 'DECLINED' };
    expect(await ok(post(exchange, chirper, `${name}:refuse`, { refusal, etag }))).toMatchObject({
      state: 'REFUSED',
      protocolConfig: other.protocolConfig,
    });
  });
});

describe('the exchange does not start', () => {
  async function problems(prepare: (database: Database) => Promise<void>): Promise<string[]> {
    const database = await createDatabase();
    const dataDir = mkdtempSync(join(tmpdir(), 'mex-protocols-test-'));
    try {
      await prepare(database);
      const protocols = { honestMajorityShareShuffle: SHARE_SHUFFLE };
      const settings = {
        mode: 'development',
        port: 0,
        dataDir,
        databaseUrl: database.url,
        protocols,
      } as const;
      const running = await start(loadConfig({}, settings), createLog('silent'));
      await running.stop();
      return ['started'];
    } catch (error) {
      return (error as ConfigError).problems;
    } finally {
      await database.drop();
      rmSync(dataDir, { recursive: true });
    }
  }

  it('with duchies that do not exist', async () => {
    expect(await problems(async () => {})).toEqual(
      [SHARE_SHUFFLE.firstWorker, SHARE_SHUFFLE.secondWorker, SHARE_SHUFFLE.aggregator].map(
        (duchy) =>
          `protocols.honestMajorityShareShuffle: ${duchy} does not exist. Register it: mex admin onboard.`,
      ),
    );
  });

  it('with a duchy that has no endpoint', async () => {
    const { aggregator } = SHARE_SHUFFLE;
    const found = await problems(async (database) => {
      await addDuchies(database);
      await database.query('UPDATE parties SET endpoint = NULL WHERE name = $1', [aggregator]);
    });
    expect(found).toEqual([
      `protocols.honestMajorityShareShuffle: ${aggregator} has no endpoint. ` +
        `Set it: mex admin parties update ${aggregator} --endpoint <url>.`,
    ]);
  });
});
