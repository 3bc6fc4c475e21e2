import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { divertNotes } from '../../terminal/output.ts';
import { requireAnswer } from './answer.ts';

const notes: string[] = [];
let restore = () => {};
let server: Server | undefined;
beforeEach(() => {
  notes.length = 0;
  restore = divertNotes((text) => notes.push(text));
});
afterEach(() => {
  restore();
  server?.close();
  server = undefined;
});

async function listen(port = 0): Promise<number> {
  server = createServer((_request, response) => response.end()).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Returns the address of a duchy that does not run. */
async function stoppedDuchy() {
  const port = await listen();
  await new Promise((closed) => server!.close(closed));
  return { port, address: { url: new URL(`http://127.0.0.1:${port}`), lookup: undefined } };
}

const beta = { demoDuchies: ['duchies/beta'] };

it('requireAnswer waits for a demo duchy that is starting, and prints one note about it', async () => {
  const { port, address } = await stoppedDuchy();
  const answer = requireAnswer(beta, 'duchies/beta', address);
  await expect.poll(() => notes).toHaveLength(1);
  await sleep(500);
  await listen(port);
  await answer;
  expect(notes).toEqual(['duchies/beta does not answer yet: waiting up to 30 s for its start.']);
});

it('requireAnswer rejects with ECONNREFUSED if a demo duchy does not start before the timeout', async () => {
  const { address } = await stoppedDuchy();
  await expect(requireAnswer(beta, 'duchies/beta', address, 300)).rejects.toThrow('ECONNREFUSED');
  expect(notes).toHaveLength(1);
});

it('requireAnswer rejects without waiting for a duchy that is not a demo duchy', async () => {
  const { address } = await stoppedDuchy();
  await expect(requireAnswer(beta, 'duchies/delta', address)).rejects.toThrow('ECONNREFUSED');
  expect(notes).toEqual([]);
});
