import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { readBody } from './body.ts';

/** Creates a request whose body has not arrived yet. */
const request = (headers: Record<string, string> = {}) => Object.assign(new PassThrough(), { headers });
const read = (stream: PassThrough, limit: number) =>
  readBody(stream as unknown as IncomingMessage, limit, () => {});

it('joins chunks of any size into one body', async () => {
  const stream = request();
  const chunks = [1, 16_383, 1, 1, 100_000, 7].map((size, i) => Buffer.alloc(size, i + 1));
  for (const chunk of chunks) stream.write(chunk);
  stream.end();
  expect((await read(stream, 1_000_000)).equals(Buffer.concat(chunks))).toBe(true);
});

it('accepts a body of exactly the size limit, and rejects a larger one', async () => {
  const exact = request({ 'content-length': '10' });
  exact.end('0123456789');
  expect((await read(exact, 10)).toString()).toBe('0123456789');
  await expect(read(request({ 'content-length': '11' }), 10)).rejects.toThrow('above the size limit');
  const unannounced = request();
  unannounced.write('01234');
  unannounced.write('567890');
  await expect(read(unannounced, 10)).rejects.toMatchObject({ reason: 'BODY_TOO_LARGE' });
});

it('rejects with MALFORMED_REQUEST if the connection breaks before the end of the body', async () => {
  const stream = request();
  stream.write('{');
  const body = read(stream, 10);
  stream.destroy(new Error('aborted'));
  await expect(body).rejects.toMatchObject({ reason: 'MALFORMED_REQUEST' });
});

it('reports the memory that it needs beyond 16 KiB, and rejects if the callback throws', async () => {
  const stream = request();
  const grown: number[] = [];
  const body = readBody(stream as unknown as IncomingMessage, 1_000_000, (bytes) => {
    if (grown.length === 2) throw new Error('enough');
    grown.push(bytes);
  });
  for (let i = 0; i < 10; i++) stream.write(Buffer.alloc(10_000));
  await expect(body).rejects.toThrow('enough');
  expect(grown).toEqual([16 * 1024, 32 * 1024]);
});

it('returns a body of one chunk without copying it, and reports its memory, too', async () => {
  const stream = request({ 'content-length': '20000' });
  const piece = Buffer.alloc(20_000, 7);
  const grown: number[] = [];
  const body = readBody(stream as unknown as IncomingMessage, 20_000, (bytes) => void grown.push(bytes));
  stream.end(piece);
  expect((await body).buffer).toBe(piece.buffer);
  expect(await body).toEqual(piece);
  expect(grown).toEqual([20_000 - 16 * 1024]);
});
