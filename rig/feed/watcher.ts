/** A client that follows the changes of a party, in pages or in a stream, and resumes after a disconnection. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Change } from '@measurement-exchange/contract';
import type { Random } from '../random.ts';
import type { World } from '../world.ts';

const WAYS = ['pages', 'stream'] as const;
const WAIT_SECONDS = 3;
const PAUSE_MS = 50;

export class Watcher {
  /** The changes that were seen, in the order of their arrival. */
  readonly seen: Change[] = [];
  readonly name: string;
  private readonly world: World;
  readonly party: string;
  private readonly way: (typeof WAYS)[number];
  private readonly random: Random;
  /** The position after the last page or event that was read. Undefined before the first one. */
  private token: string | undefined;
  private reading = new AbortController();
  private stopping = false;
  private running: Promise<void> | undefined;

  constructor(world: World, random: Random, party: string, n: number) {
    this.world = world;
    this.random = random;
    this.party = party;
    this.way = WAYS[n % WAYS.length]!;
    this.name = `watcher ${n} (${this.way}) of ${party}`;
  }

  start(): void {
    this.running = this.follow();
    this.running.catch(() => {});
  }

  /**
   * Acts as if the watcher's process were killed: data in transit is lost, and the watcher resumes after the last
   * change that it saw.
   */
  interrupt(): void {
    this.reading.abort();
  }

  async stop(): Promise<void> {
    this.stopping = true;
    this.interrupt();
    await this.running;
  }

  private async follow(): Promise<void> {
    while (!this.stopping) {
      this.reading = new AbortController();
      try {
        await (this.way === 'pages' ? this.page() : this.stream());
      } catch {
        // The connection was cut by `interrupt` or by a fault, or the exchange responded with an error.
        await sleep(this.random.int(PAUSE_MS));
      }
    }
  }

  private async page(): Promise<void> {
    const response = await this.get('changes', { waitSeconds: `${WAIT_SECONDS}`, pageSize: '50' });
    const { changes, nextPageToken } = (await response.json()) as {
      changes?: Change[];
      nextPageToken: string;
    };
    this.seen.push(...(changes ?? []));
    this.token = nextPageToken;
  }

  private async stream(): Promise<void> {
    const response = await this.get('changes:watch', {});
    let text = '';
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const events = text.split('\n\n');
      text = events.pop()!;
      for (const event of events) this.take(event);
    }
  }

  /** Reads one event of the stream. Ignores comments, which have no data. */
  private take(event: string): void {
    const field = (name: string) =>
      event
        .split('\n')
        .find((line) => line.startsWith(`${name}:`))
        ?.slice(name.length + 1)
        .trimStart();
    const [id, data] = [field('id'), field('data')];
    if (data !== undefined && data !== '') this.seen.push(JSON.parse(data));
    if (id !== undefined) this.token = id;
  }

  /** Sends a request to a random exchange. Throws if the response is not a page or a stream. */
  private async get(what: string, parameters: Record<string, string>): Promise<Response> {
    const { exchanges, violations } = this.world;
    const { url, dev } = this.random.pick(exchanges);
    const { token } = [...dev.measurementConsumers, ...dev.dataProviders].find(
      ({ name }) => name === this.party,
    )!;
    const from: Record<string, string> =
      this.token === undefined ? { from: 'OLDEST' } : { pageToken: this.token };
    const response = await fetch(
      `${url}/v2alpha/${this.party}/${what}?${new URLSearchParams({ ...parameters, ...from })}`,
      {
        headers: { authorization: `Bearer ${token}` },
        signal: this.reading.signal,
      },
    );
    if (response.ok) return response;
    const problem = await response.text();
    if (![408, 429, 503, 504].includes(response.status)) {
      violations.add(`${this.name} got ${response.status}: ${problem}`);
    }
    throw new Error(problem);
  }
}
