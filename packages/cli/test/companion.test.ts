/** Tests the console's companion: it decrypts, verifies, plans and creates for the page, and reveals no secret. */
import { writeFile } from 'node:fs/promises';
import { toBase64 } from '@measurement-exchange/contract';
import { eventsCsv } from '@measurement-exchange/testkit/providerWorld';
import { fulfillWith, measured, type Party, reach, requisitionOf } from '@measurement-exchange/testkit/world';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { loadCredentials } from '../src/connection/credentials.ts';
import { CompanionFailure, createCompanionMethods } from '../src/console/companion.ts';
import { run } from './mexInProcess.ts';
import { path, useWorld, w } from './partyWorld.ts';

useWorld();

type Methods = ReturnType<typeof createCompanionMethods>;
let acme: Methods;
let streamly: Methods;
let eventGroup: string;
beforeAll(async () => {
  acme = createCompanionMethods(await loadCredentials({ as: 'acme' }));
  streamly = createCompanionMethods(await loadCredentials({ as: 'streamly' }));
  const body = {
    measurementConsumer: w.acme.name,
    eventGroupReferenceId: 'spring',
    attributes: [{ name: 'age', type: 'INT' as const }],
  };
  eventGroup = (await w.streamly.client.createEventGroup({ parent: w.streamly.name, body })).name!;
});

const interval = { start: '2026-07-01T00:00:00Z', end: '2026-07-04T00:00:00Z' };
const asked = (title: string, filter = 'age > 30') => ({
  type: 'reach' as const,
  title,
  dataProviders: [{ name: w.streamly.name, eventGroups: [{ name: eventGroup, interval, filter }] }],
  privacy: { epsilon: 1, delta: 0 },
});
const failed = (promise: Promise<unknown>): Promise<CompanionFailure> =>
  promise.then(
    () => expect.fail('it should have failed'),
    (error) => error,
  );

describe('the companion of the console', () => {
  it.each([
    ['questions', { names: [], more: 1 }, 'INPUT_INVALID', 'more is not a known field.'],
    ['questions', { names: Array(101).fill('x') }, 'INPUT_INVALID', 'names must have at most 100 items.'],
    ['questions', undefined, 'INPUT_INVALID', 'names is required.'],
    ['result', { name: '../secrets' }, 'INPUT_INVALID', expect.stringContaining('name must match')],
    ['result', 'x', 'INPUT_INVALID', 'The input must be an object.'],
    ['searchTitles', { text: 'x'.repeat(201) }, 'INPUT_INVALID', 'text must have at most 200 characters.'],
    [
      'result',
      { name: 'measurementConsumers/globex/measurements/x' },
      'NAME_FOREIGN',
      'measurementConsumers/globex/measurements/x does not belong to measurementConsumers/acme.',
    ],
    ['budget', {}, 'ROLE_MISSING', 'measurementConsumers/acme is not a data provider.'],
    [
      'create',
      { request: {} },
      'REQUEST_ID_MISSING',
      expect.stringContaining('request.requestId is required'),
    ],
  ] as const)('rejects an invalid call of %s with %j', async (method, input, reason, message) => {
    const failure = await failed(acme[method](input));
    expect(failure).toBeInstanceOf(CompanionFailure);
    expect(JSON.parse(JSON.stringify(failure))).toMatchObject({ reason, message });
  });
});

describe('the companion of a consumer', () => {
  it('plans a measurement, creates it once per request ID, and returns its question and verified result', async () => {
    const request = { ...asked('Autumn: 30 and older'), requestId: 'once' };
    const plan = await acme.plan({ request, assumed: 1000 });
    expect(plan).toMatchObject({ protocol: 'direct', dataProviders: [{ days: 3, charge: { epsilon: 1 } }] });
    expect(plan).not.toHaveProperty('create');
    const { name } = await acme.create({ request });
    expect(await acme.create({ request })).toEqual({ name });

    const pending = await acme.result({ name });
    expect(pending).toMatchObject({ reason: 'RESULT_PENDING', error: 'It has no result yet.' });
    expect(pending.steps.every(({ holds }) => holds)).toBe(true);
    await fulfillWith(w.streamly, name, reach(1234n));
    const { result, steps, error } = await acme.result({ name });
    expect(error).toBeUndefined();
    expect(result?.dataProviders[0]).toMatchObject({ name: w.streamly.name, reach: { value: 1234 } });
    expect(steps.map(({ step }) => step)).toContain('the result is signed with its key');

    const { [name]: opened, ...rest } = await acme.questions({ names: [name, name] });
    expect(opened?.question).toMatchObject({
      title: request.title,
      dataProviders: [{ name: w.streamly.name, eventGroups: [{ name: eventGroup, filter: 'age > 30' }] }],
    });
    expect(rest).toEqual({});
  });

  it('caches questions and results, and reads a result again after it changed', async () => {
    const { name } = await w.consumer.create(asked('Cached'));
    const fresh = createCompanionMethods(await loadCredentials({ as: 'acme' }));
    const get = vi.spyOn(globalThis, 'fetch');
    await fresh.questions({ names: [name!] });
    const calls = get.mock.calls.length;
    expect(calls).toBeGreaterThan(0);
    await fresh.questions({ names: [name!] });
    expect(get.mock.calls).toHaveLength(calls);
    const first = await fresh.result({ name: name! });
    expect(await fresh.result({ name: name! })).toBe(first);
    await fulfillWith(w.streamly, name!, reach(5n));
    expect((await fresh.result({ name: name! })).result).toBeDefined();
    get.mockRestore();
  });

  it('returns no result with an invalid signature, and reports the step that failed', async () => {
    const { name } = await w.consumer.create(asked('Forged'));
    await fulfillWith(w.streamly, name!, reach(7n), { privateKeyPem: w.chirper.privateKeyPem });
    const { result, steps, reason, error } = await acme.result({ name: name! });
    expect([result, reason]).toEqual([undefined, 'SIGNATURE_INVALID']);
    expect(error).toContain('result of dataProviders/streamly');
    expect(steps.find(({ holds }) => holds === false)?.step).toBe('the result is signed with its key');
  });

  it('rejects a result with QUESTION_CHANGED if the measurement of that name now has another question', async () => {
    const [women, men] = await Promise.all([
      w.consumer.create(asked('Of 30 and older')),
      w.consumer.create(asked('Of 60 and older', 'age > 60')),
    ]);
    for (const [i, { name }] of [women, men].entries()) {
      await fulfillWith(w.streamly, name!, reach(BigInt(100 + i)));
    }
    const acting = await loadCredentials({ as: 'acme' });
    // When `isLying` is set, this exchange returns the measurement `men` under the requested name.
    let isLying = false;
    const client: typeof acting.client = {
      ...acting.client,
      async getMeasurement(args) {
        if (!isLying) return acting.client.getMeasurement(args);
        return { ...(await acting.client.getMeasurement({ name: men.name! })), name: args.name };
      },
    };
    const methods = createCompanionMethods({ ...acting, client });
    const name = women.name!;
    expect((await methods.questions({ names: [name] }))[name]?.question?.title).toBe('Of 30 and older');
    isLying = true;
    const { result, reason } = await methods.result({ name });
    expect([result, reason]).toEqual([undefined, 'QUESTION_CHANGED']);
  });

  it('rejects an invalid filter with the reason, the position and a suggestion', async () => {
    const failure = await failed(acme.plan({ request: asked('Filter', 'agee > 30') }));
    expect(failure).toMatchObject({ status: 400, reason: 'FILTER_REJECTED' });
    expect(failure.message).toMatch(/^The filter cannot be used: .* Did you mean age\?$/);
    expect(failure.details).toMatchObject({
      filters: [{ eventGroup, filter: 'agee > 30', position: { line: 1, column: 1 }, suggestion: 'age' }],
    });
  });

  it('returns errors of the exchange and the SDK with their status, reason and fields', async () => {
    const noEpsilon = { ...asked('Privacy'), privacy: { epsilon: -1, delta: 0 } };
    expect(await failed(acme.plan({ request: noEpsilon }))).toMatchObject({
      status: 400,
      details: { violations: [{ field: 'privacy.epsilon' }] },
    });
    const unknown = {
      ...asked('Nobody'),
      dataProviders: [{ name: 'dataProviders/nobody', eventGroups: [] }],
    };
    expect(await failed(acme.plan({ request: unknown }))).toMatchObject({
      status: 404,
      reason: 'EVENT_GROUP_UNKNOWN',
      message: expect.stringMatching(/There is no dataProviders\/nobody\. There are: .*streamly/),
    });
    const absent = `${w.acme.name}/measurements/absent`;
    expect(await failed(acme.result({ name: absent }))).toMatchObject({
      status: 404,
      reason: 'MEASUREMENT_NOT_FOUND',
      details: { requestId: expect.any(String) },
    });
    expect(await acme.questions({ names: [absent] })).toEqual({ [absent]: { error: expect.any(String) } });
  });

  it('finds titles by a case-insensitive part, newest first, including those created since the last search', async () => {
    for (const title of ['Reach in MAY', 'Nothing', 'Reach in may, again'])
      await w.consumer.create(asked(title));
    const titles = async (text: string) =>
      (await acme.searchTitles({ text })).matches.map(({ title }) => title);
    expect(await titles('in may')).toEqual(['Reach in may, again', 'Reach in MAY']);
    await w.consumer.create(asked('The third in May'));
    expect(await titles('in may')).toEqual(['The third in May', 'Reach in may, again', 'Reach in MAY']);
    const { isComplete, searched } = await acme.searchTitles({ text: 'no such title' });
    expect([isComplete, searched]).toEqual([true, expect.any(Number)]);
    expect((await titles('')).slice(0, 2)).toEqual(['The third in May', 'Reach in may, again']);
  });

  it('returns an empty object for an event group without metadata', async () => {
    const own = `${w.acme.name}/eventGroups/${eventGroup.split('/').at(-1)}`;
    expect(await acme.eventGroupMetadata({ names: [own] })).toEqual({ [own]: {} });
  });
});

describe('the companion of a data provider', () => {
  it('reads the request in a requisition, and verifies it', async () => {
    const { name } = await w.consumer.create(asked('For a provider'));
    const requisition = await requisitionOf(w.streamly, name!);
    const { spec, steps, error } = await streamly.requisition({ name: requisition.name! });
    expect(error).toBeUndefined();
    expect(spec).toEqual({
      measurement: expect.objectContaining({ measurementType: 'REACH' }),
      parts: [
        {
          eventGroup,
          interval: { start: '2026-07-01T00:00:00.000Z', end: '2026-07-04T00:00:00.000Z' },
          filter: 'age > 30',
        },
      ],
      charge: { epsilon: 1, delta: 0, rho: 0 },
    });
    expect(steps.every(({ holds }) => holds)).toBe(true);
    const foreign = `${w.chirper.name}/requisitions/x`;
    expect(await failed(streamly.requisition({ name: foreign }))).toMatchObject({ reason: 'NAME_FOREIGN' });
  });

  it('returns the budget and the status from its ledger, or the reason why there is none', async () => {
    const chirper = createCompanionMethods(await loadCredentials({ as: 'chirper' }));
    expect(await chirper.budget({})).toEqual({ missing: expect.stringContaining('does not exist') });
    const acting = { ...(await loadCredentials({ as: 'chirper' })), identity: '/keys/chirper' };
    const missing = { missing: expect.stringContaining('mex console --ledger <file>') };
    expect(await createCompanionMethods(acting).agent({})).toEqual(missing);

    await writeFile(path('events.csv'), eventsCsv());
    await run('provider', 'run', '--as', 'streamly', '--events', path('events.csv'), '--once');
    const budget = await streamly.budget({});
    expect(budget).toMatchObject({ view: { limit: { epsilon: 10 }, faults: [] } });
    const agent = await streamly.agent({});
    expect(agent).toMatchObject({ view: { responses: { refusals: expect.any(Number) }, heldQuestions: [] } });
    const { ledger } = budget as { ledger: string };
    expect(await createCompanionMethods(acting, { ledger }).budget({})).toEqual(budget);
  });
});

it('the companion returns the certificate and roots of a party, and no secret in any result or error', async () => {
  const { name } = await measured(w, asked('Secret'), [w.streamly, reach(9n)]);
  const requisition = await requisitionOf(w.streamly, name!);
  const about = await acme.about({});
  expect(about).toMatchObject({
    principal: w.acme.name,
    certificate: {
      name: w.acme.certificate,
      isOwn: true,
      fingerprint: expect.stringMatching(/^([0-9A-F]{2}:){31}/),
    },
    roots: [{ subject: expect.any(String), fingerprint: expect.any(String) }],
  });
  expect((await streamly.about({})).principal).toBe(w.streamly.name);
  const shown = JSON.stringify([
    about,
    await streamly.about({}),
    await acme.questions({ names: [name!] }),
    await acme.plan({ request: asked('Secret') }),
    await acme.result({ name: name! }),
    await acme.searchTitles({ text: 'e' }),
    await streamly.requisition({ name: requisition.name! }),
    await streamly.budget({}),
    await streamly.agent({}),
    await failed(acme.create({ request: asked('Secret') })),
  ]);
  for (const secret of [w.acme, w.streamly].flatMap(secretsOf)) expect(shown).not.toContain(secret);
  expect(shown).not.toMatch(/PRIVATE KEY|nonce"|Bearer|eyJ/);
});

/**
 * Returns one part of each private key of a party. The parts contain only base64 characters, so they look the same in
 * JSON and in other quoted text.
 */
const secretsOf = ({ privateKeyPem, encryptionPrivateKey }: Party) => [
  privateKeyPem.split('\n')[1]!,
  toBase64(encryptionPrivateKey).slice(20, 60),
];
