/** The demo duchies' names and endpoints. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

export const DUCHIES = [
  { name: 'duchies/alpha', displayName: 'Alpha (first worker)' },
  { name: 'duchies/beta', displayName: 'Beta (second worker)' },
  { name: 'duchies/gamma', displayName: 'Gamma (aggregator)' },
] as const;

const HOST = '127.0.0.1';
/**
 * The range of the duchies' ports. By default, outgoing connections use higher ports, so no outgoing connection takes
 * the port of a duchy that restarts.
 */
const [FIRST_PORT, PORT_AFTER_LAST] = [20_000, 32_768];
const HEALTH_TIMEOUT_MS = 500;

export async function endpointOf(before: string | undefined): Promise<string> {
  const port = Number(before === undefined ? Number.NaN : URL.parse(before)?.port);
  if (port > 0 && ((await isFree(port)) || (await isDuchy(before!)))) return before!;
  for (;;) {
    const candidate = randomInt(FIRST_PORT, PORT_AFTER_LAST);
    if (await isFree(candidate)) return `http://${HOST}:${candidate}`;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, HOST);
  const free = await once(server, 'listening').then(
    () => true,
    () => false,
  );
  if (free) await new Promise((closed) => server.close(closed));
  return free;
}

/**
 * Returns whether a duchy listens at the endpoint. Another exchange with the same data directory may have started this
 * duchy.
 */
async function isDuchy(endpoint: string): Promise<boolean> {
  const signal = AbortSignal.timeout(HEALTH_TIMEOUT_MS);
  return fetch(`${endpoint}/healthz`, { signal }).then(
    ({ ok }) => ok,
    () => false,
  );
}
