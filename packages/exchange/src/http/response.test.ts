import type { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { bodyOf, type ResponseBody } from './response.ts';

async function textOf(body: ResponseBody): Promise<string> {
  if (typeof body === 'string' || Buffer.isBuffer(body)) return body.toString();
  return Buffer.concat(await Array.fromAsync(body as AsyncIterable<Buffer>)).toString();
}

it.each<[title: string, parts: string[]]>([
  ['an empty response', []],
  ['a short response', ['{"a":', '"ü"}']],
  ['a page', Array.from({ length: 50 }, (_, i) => `${i}`.repeat(3_000))],
  ['a page of 3-byte characters', Array.from({ length: 50 }, () => '語'.repeat(3_000))],
  ['a page of 4-byte characters', Array.from({ length: 50 }, () => '𝄞'.repeat(3_000))],
  ['the longest response that is built in one piece, of 3-byte characters', ['語'.repeat(1024 * 1024)]],
  ['a page of 6 MB', Array.from({ length: 50 }, () => 'é'.repeat(60_000))],
  ['a response with one part of 3 MB', ['語'.repeat(1_000_000), 'a', 'b']],
])('joins the parts of %s', async (_title, parts) => {
  expect(await textOf(bodyOf(parts))).toBe(parts.join(''));
});

it('does not change a response when the next one is built', async () => {
  const first = bodyOf(['a'.repeat(100_000)]);
  bodyOf(['b'.repeat(100_000)]);
  expect(await textOf(first)).toBe('a'.repeat(100_000));
});

describe('a long response', () => {
  const PART = 'x'.repeat(100_000);

  it('is generated while it is read, and only slightly ahead of the reader', async () => {
    let made = 0;
    function* parts() {
      for (; made < 1_000; made++) yield PART;
    }
    const body = bodyOf(parts()) as Readable;
    expect(made).toBeLessThan(12);
    body.read();
    await new Promise(setImmediate);
    expect(made).toBeLessThan(20);
    for await (const chunk of body) if (chunk.length > 0 && made > 50) break;
    expect(made).toBeLessThan(100);
  });
});
