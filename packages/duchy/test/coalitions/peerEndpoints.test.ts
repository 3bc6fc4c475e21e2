/**
 * A hostile exchange names services of a duchy's own network as the endpoints of other duchies. In production mode,
 * none of these services gets a connection. Also tests endpoints in the settings, and which text of a peer's error
 * reaches the log.
 */
import { lookup } from 'node:dns';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, LookupFunction } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { packSignedMessage } from '@measurement-exchange/consent';
import { selfSigned } from '@measurement-exchange/testkit/selfSigned';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { PeerSettings } from '../../src/config/config.ts';
import { completeBlob, type StoredMessage, writeBlob } from '../../src/database/index.ts';
import { post } from '../../src/peers/post.ts';
import { sendOutput } from '../../src/peers/send.ts';
import { type FaceWorld, startFaceWorld } from '../face/world.ts';

const BETA = 'duchies/beta';
let world: FaceWorld;
let message: StoredMessage;
let service: Server;
let port: number;
/** The connections and requests that the service received. */
const got = { connections: 0, bodies: [] as string[] };
let respond: RequestListener;

beforeAll(async () => {
  world = await startFaceWorld();
  const { id } = await world.computation();
  const { db } = world.duchy;
  const blob = await writeBlob(db, id, Readable.from([Buffer.from('the message')]));
  await db.tx('test', (tx) => completeBlob(tx, blob.id, id));
  const signed = { message: new Uint8Array(9), signature: new Uint8Array(64) };
  message = {
    ...{ computation: id, stage: 'SHUFFLE_PHASE_INPUT_ONE', direction: 'OUT', peer: BETA, blob: blob.id },
    ...{ certificate: `${BETA}/certificates/1`, createTime: new Date(), acknowledgedTime: null },
    signedMessage: packSignedMessage({ ...signed, signatureAlgorithm: 'ECDSA_WITH_SHA256' }, 'x'),
  };
  service = createServer(async (request, response) => {
    got.bodies.push(await text(request));
    respond(request, response);
  });
  service.on('connection', () => {
    got.connections++;
  });
  await new Promise<void>((resolve) => service.listen(0, resolve));
  port = (service.address() as AddressInfo).port;
});
afterAll(async () => {
  service.close();
  await world.stop();
});
beforeEach(() => {
  Object.assign(got, { connections: 0, bodies: [] });
  respond = (_request, response) => response.writeHead(200).end('{}');
});

/** Sends a message while the exchange names this endpoint, or no endpoint, and returns the outcome. */
async function sent(
  endpoint: string | undefined,
  settings: { peers?: Record<string, PeerSettings>; requiresPublicPeers?: boolean },
): Promise<string> {
  const client = { getParty: async () => ({ name: BETA, endpoint }) } as never;
  const signal = AbortSignal.timeout(10_000);
  try {
    await sendOutput({ ...world.duchy, client, ...settings }, {} as never, message, signal);
    return 'sent';
  } catch (error) {
    const { name, code, detail } = error as Error & { code: string; detail: string };
    return `${name} ${code}: ${detail}`;
  }
}

const PRODUCTION = { requiresPublicPeers: true };

describe('in production', () => {
  test.each([
    ['https://127.0.0.1:PORT', /not public/],
    ['https://localhost:PORT', /not public/],
    ['https://[::1]:PORT', /not public/],
    ['https://[::ffff:127.0.0.1]:PORT', /not public/],
    ['https://169.254.169.254', /not public/],
    ['https://10.0.0.1', /not public/],
    ['http://8.8.8.8', /not https/],
    ['http://localhost:PORT', /not https/],
    ['https://user@localhost:PORT', /not the URL of a host/],
    ['https://localhost:PORT/v2', /not the URL of a host/],
    [undefined, /no endpoint/],
  ])('an endpoint %s from the exchange gets no connection, and the stage waits', async (endpoint, detail) => {
    const outcome = await sent(endpoint?.replace('PORT', String(port)), PRODUCTION);
    expect(outcome).toMatch(/^NotReady WAITS_FOR_PEER: /);
    expect(outcome).toMatch(detail);
    expect(got.connections).toBe(0);
  });

  test('an endpoint from the settings may have a private address, but must use https', async () => {
    const pinned = (endpoint: string) => ({ ...PRODUCTION, peers: { [BETA]: { endpoint } } });
    // A pinned endpoint is allowed to have a private address, so the duchy connects to the test's service. The service
    // does not speak TLS, so it receives no HTTP request.
    const outcome = await sent('https://8.8.8.8', pinned(`https://localhost:${port}`));
    expect(outcome).toBe('NotReady WAITS_FOR_PEER: no response');
    expect([got.connections > 0, got.bodies]).toEqual([true, []]);
    got.connections = 0;
    expect(await sent('https://8.8.8.8', pinned(`http://localhost:${port}`))).toMatch(/not https/);
    expect(got.connections).toBe(0);
  });
});

test('a PEER_REJECTED error has a known reason or the HTTP status, but no other text of the peer', async () => {
  const rejected = (reason: string) => {
    const info = {
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason,
      domain: 'measurement-exchange',
    };
    const error = { code: 400, status: 'INVALID_ARGUMENT', message: 'text of the peer', details: [info] };
    respond = (_request, response) => response.writeHead(400).end(JSON.stringify({ error }));
    return sent(`http://localhost:${port}`, {});
  };
  expect(await rejected('NONCE_MISMATCH')).toBe('PermanentError PEER_REJECTED: NONCE_MISMATCH');
  expect(await rejected('text of the peer')).toBe('PermanentError PEER_REJECTED: HTTP 400');
});

test('in development any endpoint is used, and an endpoint from the settings takes precedence', async () => {
  expect(await sent(`http://localhost:${port}`, {})).toBe('sent');
  const peers = { [BETA]: { endpoint: `http://127.0.0.1:${port}` } };
  expect(await sent('http://localhost:1', { peers })).toBe('sent');
  expect(await sent(`http://localhost:${port}`, { peers: { 'duchies/gamma': peers[BETA]! } })).toBe('sent');
  expect(got.bodies).toHaveLength(3);
  for (const body of got.bodies) expect(body).toContain('the message');
});

describe('a request to a checked address', () => {
  let secure: Server;
  let url: URL;
  const trusted = getCACertificates('default');
  beforeAll(async () => {
    const identity = await selfSigned();
    setDefaultCACertificates([...trusted, identity.cert]);
    secure = createSecureServer(identity, service.listeners('request')[0] as RequestListener);
    await new Promise<void>((resolve) => secure.listen(0, resolve));
    url = new URL(`https://127.0.0.1:${(secure.address() as AddressInfo).port}`);
  });
  afterAll(() => {
    setDefaultCACertificates(trusted);
    secure.close();
  });

  const request = () => ({
    headers: { 'content-type': 'text/plain' },
    body: (async function* () {
      yield Buffer.from('one ');
      yield Buffer.from('two');
    })(),
    signal: AbortSignal.timeout(10_000),
  });

  test('is sent completely, and returns the response', async () => {
    respond = (_request, response) => response.writeHead(409).end('{"error": {}}');
    const response = await post(url, request(), { lookup });
    expect([response.status, await response.text()]).toEqual([409, '{"error": {}}']);
    expect(got.bodies).toEqual(['one two']);
    respond = (_request, response) => response.writeHead(204).end();
    const empty = await post(url, request(), { lookup });
    expect([empty.status, await empty.text()]).toEqual([204, '']);
  });

  test('is not sent if the lookup rejects the address', async () => {
    url.hostname = 'localhost';
    const rejecting: LookupFunction = (_name, _options, callback) => callback(new Error('not public'), '', 0);
    await expect(post(url, request(), { lookup: rejecting })).rejects.toThrow(/not public/);
    url.hostname = '127.0.0.1';
    expect(got.bodies).toEqual([]);
  });

  test('does not follow a redirect', async () => {
    const location = `http://localhost:${port}/elsewhere`;
    respond = (_request, response) => response.writeHead(307, { location }).end();
    expect((await post(url, request(), { lookup })).status).toBe(307);
    expect(await sent(`http://localhost:${port}`, {})).toBe('NotReady WAITS_FOR_PEER: HTTP 307');
    expect(got.bodies).toHaveLength(2);
  });
});
