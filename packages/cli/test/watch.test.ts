import { measurementRequest } from '@measurement-exchange/testkit/exchange';
import { ok, post, requisitionOf } from '@measurement-exchange/testkit/steps';
import { useWorld } from '@measurement-exchange/testkit/world';
import { expect, it, vi } from 'vitest';
import { useEnvironment } from './environment.ts';
import { lines, run } from './mexInProcess.ts';
import { CHANGES, STREAMS, useProxy } from './proxy.ts';

const w = useWorld();
useEnvironment(() => w.exchange);
const proxy = useProxy(() => w.exchange);

/** Creates a measurement and returns the name of its requisition. */
async function changed(): Promise<string> {
  const { measurementConsumers, dataProviders } = w.exchange.dev;
  const [acme] = measurementConsumers;
  const [streamly] = dataProviders;
  const request = measurementRequest(acme!, [streamly!]);
  const { name } = await ok(post(w.exchange, acme!, `${acme!.name}/measurements`, request));
  return (await requisitionOf(w.exchange, streamly!, { name })).name;
}

const watch = (...options: string[]) => run('watch', '--kind', 'REQUISITION', ...options);
/** Runs `mex watch` as Streamly through the proxy. */
const watchThere = (...options: string[]) =>
  watch('--url', proxy.url, '--token', w.exchange.dev.dataProviders[0]!.token, ...options);
/** Returns everything that the running command has written to standard error so far. */
const noted = () => vi.mocked(process.stderr.write).mock.calls.flat().join('');
const isNoted = (text: string) => vi.waitUntil(() => noted().includes(text), 90_000);

it('mex watch --oldest prints the stored changes, as text or as JSON', async () => {
  const requisition = await changed();
  const kept = ['--as', 'streamly', '--oldest', '--limit', '1'];
  const { out, err, error } = await watch(...kept);
  expect(error).toBeUndefined();
  expect(err).toContain('dataProviders/streamly: changes as they come');
  expect(out).toMatch(/ {2}REQUISITION {2}/);
  expect(out).toContain(`${requisition} (1)  UNFULFILLED\n`);
  expect(lines((await watch(...kept, '--json')).out)).toMatchObject([
    { name: requisition, kind: 'REQUISITION', state: 'UNFULFILLED', version: 1 },
  ]);
});

it('mex watch prints one note when it starts, one for each outage, and one when it resumes', async () => {
  proxy.treat((path) => (CHANGES.test(path) ? 'CUT' : 'PASS'));
  const running = watchThere('--limit', '2', '--json');
  await isNoted('Changes cannot be followed for now');
  expect(noted()).not.toContain('changes as they come');
  proxy.treat(() => 'PASS');
  await isNoted('dataProviders/streamly: changes as they come');
  const first = await changed();
  await vi.waitUntil(() => vi.mocked(process.stdout.write).mock.calls.length > 0, 90_000);

  proxy.treat(() => 'CUT');
  await vi.waitUntil(() => proxy.cut > 2, 90_000);
  proxy.treat(() => 'PASS');
  await isNoted('Changes are followed again.');
  const second = await changed();
  const { out, err, error } = await running;
  expect(error).toBeUndefined();
  expect(lines(out).map(({ name }) => name)).toEqual([first, second]);
  const lost = expect.stringMatching(
    /^Changes cannot be followed for now; it tries again: http:\/\/127\S+ does not respond/,
  );
  expect(err.trim().split('\n')).toEqual([
    lost,
    'dataProviders/streamly: changes as they come; Ctrl-C ends it.',
    lost,
    'Changes are followed again.',
  ]);
});

it('mex watch warns if changes do not arrive as a stream, and still prints them', async () => {
  proxy.treat((path) => (STREAMS.test(path) ? 'PAGE' : 'PASS'));
  const running = watchThere('--limit', '1');
  await isNoted('changes do not arrive as a stream');
  const requisition = await changed();
  const { out, err } = await running;
  expect(out).toContain(requisition);
  expect(err).toContain('(the response is text/html\ufffd2J)');
  expect(err).not.toContain('\u009b');
});

it('mex watch rejects the operator with the message that it is for parties', async () => {
  const { out, err, error } = await watch();
  expect(error?.message).toBe(
    "mex watch is for consumers, data providers and duchies, and you call as operator: set MEX_TOKEN to one's " +
      'token, or in development --as …',
  );
  expect(out + err).toBe('');
});
