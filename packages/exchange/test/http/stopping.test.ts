/**
 * Tests that a stopping exchange lets running requests finish, but does not wait forever for a request that never
 * finishes.
 */
import { once } from 'node:events';
import http from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { startExchange } from '@measurement-exchange/testkit/exchange';
import { castOf } from '@measurement-exchange/testkit/steps';
import { afterEach, expect, it, vi } from 'vitest';

afterEach(() => {
  vi.useRealTimers();
});

/** Returns whether the server accepts new connections. */
function accepts(url: string): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) });
  return new Promise((resolve) => {
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

it('a stopping exchange answers requests that finish within 8 s, and closes the other connections', async () => {
  const exchange = await startExchange();
  const { acme } = castOf(exchange);
  const body = JSON.stringify({ names: [`${acme.name}/measurements/none`] });
  /** Sends the headers of a request, and waits until the exchange asks for the body. */
  const begin = async () => {
    const request = http.request(`${exchange.url}/v2alpha/${acme.name}/measurements:batchGet`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${acme.token}`,
        'content-type': 'application/json',
        'content-length': body.length,
        expect: '100-continue',
      },
    });
    const continued = once(request, 'continue');
    request.flushHeaders();
    await continued;
    return request;
  };
  const [finished, endless] = [await begin(), await begin()];
  const cut = once(endless, 'error');
  let isCut = false;
  endless.once('error', () => {
    isCut = true;
  });

  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const stopped = exchange.stop();
  while (await accepts(exchange.url));
  const responded = once(finished, 'response');
  finished.end(body);
  const [response] = (await responded) as [http.IncomingMessage];
  expect([response.statusCode, response.headers.connection]).toEqual([404, 'close']);
  response.resume();

  vi.advanceTimersByTime(7_999);
  await new Promise(setImmediate);
  expect(isCut).toBe(false);
  vi.advanceTimersByTime(1);
  vi.useRealTimers();
  // The connection must close now, long before the time limit for sending the request has passed.
  await Promise.race([cut, sleep(5_000).then(() => expect.fail('The connection is still open.'))]);
  expect(await stopped).toEqual([]);
});
