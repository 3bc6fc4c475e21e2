/**
 * Tests the encrypted question of a measurement, which the exchange keeps for the consumer and shows to no other party.
 */
import { randomBytes } from 'node:crypto';
import { useComputations } from '@measurement-exchange/testkit/computations';
import { measurementRequest } from '@measurement-exchange/testkit/exchange';
import { errorOf, get, metadata, ok, post, requisitionOf, stored } from '@measurement-exchange/testkit/steps';
import { expect, it } from 'vitest';

const INVALID = '400 INVALID_ARGUMENT INVALID_FIELD_VALUE';

const world = useComputations();
const { exchange } = world;

/** Returns a question with this many bytes. */
const questionOf = (bytes = 300) => ({
  ciphertext: randomBytes(bytes).toString('base64'),
  typeUrl: 'x/Question',
});
const send = (encryptedQuestion: unknown, query = '', request = newRequest()) =>
  post(exchange, world.acme, `${world.acme.name}/measurements${query}`, { ...request, encryptedQuestion });
const newRequest = () => measurementRequest(world.acme, [world.streamly, world.chirper]);
const idOf = ({ name }: { name: string }) => name.split('/').at(-1)!;

it('the question is in every measurement that the consumer reads, and in no view of a provider or duchy', async () => {
  const { acme, streamly, duchies } = world;
  const encryptedQuestion = questionOf();
  const created = await ok(send(encryptedQuestion));
  const names = [created.name];
  const batch = await ok(post(exchange, acme, `${acme.name}/measurements:batchGet`, { names }));
  const { measurements } = await get(exchange, acme, `${acme.name}/measurements?orderBy=createTime%20desc`);
  for (const view of [
    created,
    await get(exchange, acme, created.name),
    batch.measurements[0],
    measurements[0],
  ]) {
    expect(view).toMatchObject({ name: created.name, encryptedQuestion });
  }

  const requisition = await requisitionOf(exchange, streamly, created);
  const { aggregator } = duchies;
  const paths: [string, string][] = [
    [streamly.token, requisition.name],
    [streamly.token, `${streamly.name}/requisitions`],
    [streamly.token, `${streamly.name}/changes`],
    [aggregator.token, `${aggregator.name}/computations/${idOf(created)}`],
    [aggregator.token, `${aggregator.name}/computations`],
    [acme.token, `${created.name}/requisitions`],
    [acme.token, `${created.name}:timeline`],
  ];
  for (const [token, path] of paths) {
    const { status, text } = await exchange.call(token, 'GET', `/v2alpha/${path}`);
    expect(status, path).toBe(200);
    expect(text, path).not.toContain(encryptedQuestion.ciphertext);
    expect(text, path).not.toMatch(/question/i);
  }
});

it('the question is optional, and has from 1 byte to 64 KiB', async () => {
  expect(await ok(send(undefined))).not.toHaveProperty('encryptedQuestion');
  const largest = questionOf(64 * 1024);
  expect(await ok(send(largest))).toMatchObject({ encryptedQuestion: largest });
  const bad: [unknown, string][] = [
    [questionOf(64 * 1024 + 1), 'encryptedQuestion.ciphertext'],
    [questionOf(0), 'encryptedQuestion.ciphertext'],
    [{ ...questionOf(), typeUrl: '' }, 'encryptedQuestion.typeUrl'],
    [{ ...questionOf(), plaintext: 'x' }, 'encryptedQuestion.plaintext'],
    ['question', 'encryptedQuestion'],
  ];
  for (const [question, field] of bad) expect(errorOf(await send(question))).toBe(`${INVALID} ${field}`);
});

it('a requestId with a different question is rejected with REQUEST_ID_REUSED', async () => {
  const request = newRequest();
  const question = questionOf();
  const first = await ok(send(question, '?requestId=q', request));
  expect(await ok(send(question, '?requestId=q', request))).toEqual(first);
  for (const other of [questionOf(), undefined, { ...question, typeUrl: 'other' }]) {
    const reply = await send(other, '?requestId=q', request);
    expect(errorOf(reply)).toContain('REQUEST_ID_REUSED');
    expect(metadata(reply).existing).toBe(first.name);
  }
});

it('the question counts towards the size limit of a page', async () => {
  const { acme } = world;
  const question = questionOf(64 * 1024);
  const { createTime } = await ok(send(question));
  // Create more questions than fit into a page: each has 87 KB in base64, and a page has 8 MiB.
  for (let i = 0; i < 96; i++) await ok(send(question));
  const query = `pageSize=1000&filter.createdAfter=${createTime}`;
  const { measurements, nextPageToken } = await get(exchange, acme, `${acme.name}/measurements?${query}`);
  expect(measurements.length).toBeLessThan(96);
  expect(nextPageToken).toBeDefined();
});

it('the question is removed with the measurement', async () => {
  const { acme } = world;
  const question = questionOf();
  const { name } = await ok(send(question));
  await ok(post(exchange, acme, `${name}:cancel`));
  const hex = Buffer.from(question.ciphertext, 'base64').toString('hex');
  const everything = async () => JSON.stringify(await stored(exchange));
  expect(await everything()).toContain(hex);
  await exchange.database.query('SELECT remove_measurements($1, now())', [[idOf({ name })]]);
  expect(await everything()).not.toContain(hex);
  expect(await get(exchange, acme, name)).not.toHaveProperty('encryptedQuestion');
});
