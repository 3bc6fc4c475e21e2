/** A test client that reads changes as Server-Sent Events. */
import { type IncomingMessage, request } from 'node:http';
import type { DevParty } from '@measurement-exchange/testkit/exchange';
import { afterEach, expect } from 'vitest';

interface Block {
  id?: string;
  data?: { name: string; version: number; kind: string };
}

/** The text and events that a stream has received so far. */
export class Stream {
  text = '';
  isOver = false;
  readonly response: IncomingMessage;

  constructor(response: IncomingMessage) {
    this.response = response;
    response.setEncoding('utf8').on('data', (chunk: string) => {
      this.text += chunk;
    });
    response.on('close', () => {
      this.isOver = true;
    });
  }

  /** The resource and version of each event that has data. */
  get lines(): string[] {
    return this.blocks.flatMap(({ data }) => (data === undefined ? [] : [`${data.name} ${data.version}`]));
  }

  get lastId(): string {
    return this.blocks.findLast(({ id }) => id !== undefined)!.id!;
  }

  get blocks(): Block[] {
    return this.text
      .split('\n\n')
      .slice(0, -1)
      .map((block) => {
        const fields = new Map(
          block.split('\n').map((line) => [line.split(': ')[0], line.split(': ').slice(1).join(': ')]),
        );
        const data = fields.get('data');
        return {
          ...(fields.has('id') && { id: fields.get('id')! }),
          ...(data && { data: JSON.parse(data) }),
        };
      });
  }
}

/** Returns a function that opens streams. Closes all streams at the end of each test. */
export function useStreams(exchange: { url: string }) {
  const open: Stream[] = [];
  afterEach(() => {
    for (const { response } of open.splice(0)) response.destroy();
  });
  return async function watch(
    party: Pick<DevParty, 'name' | 'token'>,
    query = '',
    headers: Record<string, string> = {},
    url = exchange.url,
  ): Promise<Stream> {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request(`${url}/v2alpha/${party.name}/changes:watch?${query}`, {
        headers: { authorization: `Bearer ${party.token}`, ...headers },
      })
        .on('response', resolve)
        .on('error', reject)
        .end();
    });
    const stream = new Stream(response);
    open.push(stream);
    expect(response.statusCode).toBe(200);
    return stream;
  };
}

export const seen = (stream: Stream, count: number) =>
  expect.poll(() => stream.lines.length, { timeout: 20_000, interval: 5 }).toBeGreaterThanOrEqual(count);
