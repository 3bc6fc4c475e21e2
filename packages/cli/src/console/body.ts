import type { IncomingMessage } from 'node:http';
import { Refusal } from './refusal.ts';

export async function readBody(request: IncomingMessage, limit: number): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > limit)
      throw new Refusal(413, 'BODY_TOO_LARGE', `A request has at most ${limit} bytes here.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
