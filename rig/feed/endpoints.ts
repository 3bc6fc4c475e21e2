/**
 * Webhook endpoints, built with the Standard Webhooks library. Some responses are slow, and some deliveries fail at the
 * first attempt.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Change } from '@measurement-exchange/contract';
import { Webhook } from 'standardwebhooks';
import type { Random } from '../random.ts';
import type { World } from '../world.ts';
import { changesIn, isStep, mistakeIn, type Truth } from './truth.ts';

const SLOW_MS = 50;
/** One delivery in 20 is slow, and one in 40 fails. */
const [SLOW_EVERY, FAIL_EVERY] = [20, 40];
/**
 * The time without deliveries after which `compare` stops waiting. It covers the lease of a killed exchange and a
 * retry.
 */
const SILENCE_MS = 45_000;

export class Endpoints {
  private readonly world: World;
  private readonly random: Random;
  private readonly server: Server;
  private readonly secrets = new Map<string, string>();
  /** The accepted changes by party, in the order in which they were first accepted. */
  private readonly taken = new Map<string, Change[]>();
  /** Whether each message was accepted, by message ID. */
  private readonly messages = new Map<string, boolean>();
  private lastAt = performance.now();
  repeats = 0;

  private constructor(world: World, random: Random) {
    this.world = world;
    this.random = random;
    this.server = createServer(async (request, response) => {
      const party = decodeURIComponent(request.url!.slice(1));
      const headers = request.headers as Record<string, string>;
      response.writeHead(await this.receive(party, headers, await text(request))).end();
    });
  }

  /** Starts the endpoints, and creates a webhook for each party. */
  static async start(world: World, random: Random, parties: string[]): Promise<Endpoints> {
    const endpoints = new Endpoints(world, random);
    const { server } = endpoints;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    for (const party of parties) {
      const url = `http://127.0.0.1:${port}/${encodeURIComponent(party)}`;
      const reply = await world.call(0, party, 'POST', `${party}/webhooks`, { url });
      if (reply.kind !== 'response' || reply.status !== 200) throw new Error(`no webhook of ${party}`);
      endpoints.secrets.set(party, JSON.parse(reply.text).secret);
      endpoints.taken.set(party, []);
    }
    return endpoints;
  }

  private async receive(party: string, headers: Record<string, string>, body: string): Promise<number> {
    this.lastAt = performance.now();
    const change = this.verified(party, headers, body);
    if (change === undefined) return 401;
    if (this.random.int(SLOW_EVERY) === 0) await sleep(this.random.int(SLOW_MS));
    const id = headers['webhook-id']!;
    const wasTaken = this.messages.get(id);
    if (wasTaken === undefined && this.random.int(FAIL_EVERY) === 0) {
      this.messages.set(id, false);
      return 500;
    }
    this.messages.set(id, true);
    if (wasTaken) this.repeats++;
    else this.taken.get(party)!.push(change);
    return 204;
  }

  private verified(party: string, headers: Record<string, string>, body: string): Change | undefined {
    try {
      return (new Webhook(this.secrets.get(party)!).verify(body, headers) as { data: Change }).data;
    } catch (error) {
      this.world.violations.add(`the endpoint of ${party} got a message that is not signed: ${error}`);
      return undefined;
    }
  }

  /**
   * Waits until all changes have arrived or no more arrive, and reports changes that are missing or out of order.
   * Returns the number of accepted changes, without repeated deliveries.
   */
  async compare(truths: Map<string, Truth>): Promise<number> {
    const parties = [...this.taken].map(([party, taken]) => ({
      party,
      taken,
      truth: truths.get(party) ?? new Map(),
    }));
    const isBehind = () => parties.some(({ taken, truth }) => taken.filter(isStep).length < changesIn(truth));
    this.lastAt = performance.now();
    while (isBehind() && performance.now() - this.lastAt < SILENCE_MS) await sleep(100);
    for (const { party, taken, truth } of parties) {
      const mistake = mistakeIn(taken, truth);
      if (mistake !== undefined) this.world.violations.add(`the endpoint of ${party} got ${mistake}`);
    }
    return parties.reduce((sum, { taken }) => sum + taken.length, 0);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((closed) => this.server.close(closed));
  }
}
