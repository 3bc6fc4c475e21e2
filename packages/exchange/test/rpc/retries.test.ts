/**
 * Tests how clients of the public reference system retry. They repeat calls that failed with UNAVAILABLE because a
 * proxy cut the connection. If a page of a list is too large for the client, they request a smaller page.
 */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { useExchange } from '@measurement-exchange/testkit/exchange';
import { castOf, createMeasurement, get, requisitionOf } from '@measurement-exchange/testkit/steps';
import {
  codeOf,
  type Message,
  openStock,
  type Stock,
  type StockClient,
} from '@measurement-exchange/testkit/stock';
import { StockConsumer } from '@measurement-exchange/testkit/stockParties';
import { type Party, partyOf } from '@measurement-exchange/testkit/world';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const exchange = useExchange();

/**
 * A proxy between a client and the exchange. At the test's command, the proxy cuts the connection of the next call,
 * either before the exchange receives the call or after the exchange has processed it.
 */
class CuttingProxy {
  address = '';
  cuts = 0;
  private next: 'before' | 'after' | undefined;
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();

  constructor(target: string) {
    const [host, port] = target.split(':') as [string, string];
    this.server = createServer((client) => {
      const upstream = connect(Number(port), host);
      for (const socket of [client, upstream]) {
        this.sockets.add(socket.on('error', () => {}).on('close', () => this.sockets.delete(socket)));
      }
      client.on('data', (bytes) => (this.next === 'before' ? this.cut() : upstream.write(bytes)));
      upstream.on('data', (bytes) => (this.next === 'after' ? undefined : client.write(bytes)));
      client.on('close', () => upstream.destroy());
      upstream.on('close', () => client.destroy());
    });
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.address = `127.0.0.1:${(this.server.address() as { port: number }).port}`;
  }

  /**
   * Sends a call and cuts it off. Returns the code and the response that the client receives after its retries.
   * `isDone` returns whether the exchange has stored the result of the call.
   */
  async cutOff(
    client: StockClient,
    when: 'before' | 'after',
    call: () => Promise<unknown>,
    isDone: () => Promise<boolean>,
  ) {
    const { cuts } = this;
    // Open the connection first, so that the next bytes belong to the call.
    await client.call('Populations/ListPopulations', {});
    this.next = when;
    const outcome = call();
    outcome.catch(() => {});
    if (when === 'after') {
      await expect.poll(isDone).toBe(true);
      this.cut();
    }
    const code = await codeOf(outcome);
    expect(this.cuts).toBe(cuts + 1);
    return { code, response: (code === 'OK' ? await outcome : undefined) as Message };
  }

  private cut(): void {
    this.cuts++;
    this.next = undefined;
    for (const socket of this.sockets) socket.destroy();
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }
}

let proxy: CuttingProxy;
let stock: Stock;
let ofConsumer: StockClient;
let ofProvider: StockClient;
let acme: Party;
const identityOf = ({ clientCertificatePem: cert, clientPrivateKeyPem: key }: Message) => ({ cert, key });

beforeAll(async () => {
  const cast = castOf(exchange);
  acme = partyOf(exchange, cast.acme);
  proxy = new CuttingProxy(exchange.dev.grpc.address);
  await proxy.listen();
  stock = await openStock(exchange.dev);
  const options = { address: proxy.address, retries: true };
  ofConsumer = stock.connect({ ...options, identity: identityOf(cast.acme) });
  ofProvider = stock.connect({ ...options, identity: identityOf(cast.streamly) });
});
afterAll(() => {
  for (const client of [ofConsumer, ofProvider]) client.close();
  proxy.close();
});

const countOf = async (table: string, where = 'true', values: unknown[] = []) =>
  Number((await exchange.database.query(`SELECT count(*) AS n FROM ${table} WHERE ${where}`, values))[0]!.n);

const question = (requestId: string) => ({
  measurementType: { reach: { privacy_params: { epsilon: 0.1, delta: 1e-9 } } },
  dataProviders: [{ name: 'dataProviders/streamly', eventGroups: [] as Message[] }],
  requestId,
});

describe.each(['before', 'after'] as const)('a call that is cut off %s the exchange processes it', (when) => {
  it('creates one measurement for its request ID', async () => {
    const requests: Message[] = [];
    const recording: StockClient = {
      ...ofConsumer,
      call: async (method, request) => {
        if (method.endsWith('/CreateMeasurement')) requests.push(request);
        return method.endsWith('/CreateMeasurement') ? {} : ofConsumer.call(method, request);
      },
    };
    await new StockConsumer(stock, recording, acme).create(question(`cut-${when}`));
    const before = await countOf('measurements');
    const create = () => ofConsumer.call('Measurements/CreateMeasurement', requests[0]);
    const { code, response } = await proxy.cutOff(
      ofConsumer,
      when,
      create,
      async () => (await countOf('measurements')) > before,
    );
    expect(code).toBe('OK');
    expect((await create()).name).toBe(response.name);
    expect(await countOf('measurements')).toBe(before + 1);
  });

  it.each(['', 'current'] as const)('fulfills a requisition once, with the etag "%s"', async (etag) => {
    const { requisition, stateOf } = await begin();
    const request = {
      name: requisition.name,
      encrypted_result: { ciphertext: Buffer.from('result'), type_url: SIGNED },
      nonce: '1',
      etag: etag && requisition.etag,
    };
    const fulfill = () => ofProvider.call('Requisitions/FulfillDirectRequisition', request);
    const { code } = await proxy.cutOff(
      ofProvider,
      when,
      fulfill,
      async () => (await stateOf()) === 'FULFILLED',
    );
    expect(code).toBe(when === 'before' ? 'OK' : SENT_AGAIN[etag]);
    expect(await stateOf()).toBe('FULFILLED');
    expect(await entriesOf(requisition, 'FULFILLED')).toBe(1);
  });

  it.each(['', 'current'] as const)('refuses a requisition once, with the etag "%s"', async (etag) => {
    const { requisition, stateOf } = await begin();
    const refusal = { justification: 'DECLINED', message: 'not this quarter' };
    const request = { name: requisition.name, refusal, etag: etag && requisition.etag };
    const refuse = () => ofProvider.call('Requisitions/RefuseRequisition', request);
    const { code } = await proxy.cutOff(
      ofProvider,
      when,
      refuse,
      async () => (await stateOf()) === 'REFUSED',
    );
    expect(code).toBe(when === 'before' ? 'OK' : SENT_AGAIN[etag]);
    expect(await stateOf()).toBe('REFUSED');
    expect(await entriesOf(requisition, 'REFUSED')).toBe(1);
  });
});

/**
 * Maps the etag that a client sends to the code that the client gets if it repeats a request that was already
 * processed.
 */
const SENT_AGAIN = { '': 'FAILED_PRECONDITION', current: 'ABORTED' };
const SIGNED = 'type.googleapis.com/wfa.measurement.api.v2alpha.SignedMessage';

async function begin() {
  const { acme, streamly } = castOf(exchange);
  const measurement = await createMeasurement(exchange, acme, [streamly]);
  const requisition = await requisitionOf(exchange, streamly, measurement);
  const stateOf = async () => (await get(exchange, streamly, requisition.name)).state as string;
  return { requisition, stateOf };
}

/** Returns how often the requisition entered this state. */
async function entriesOf({ name }: { name: string }, state: string): Promise<number> {
  const { streamly } = castOf(exchange);
  const { transitions } = await get(exchange, streamly, `${name}:timeline`);
  return transitions.filter((one: Message) => one.resource === name && one.to === state).length;
}

it('a client that halves its page size after RESOURCE_EXHAUSTED receives every measurement once', async () => {
  const { acme, chirper } = castOf(exchange);
  const names = new Set<string>();
  for (let i = 0; i < 9; i++) names.add((await createMeasurement(exchange, acme, [chirper])).name);
  const small = stock.connect({ identity: identityOf(acme), maxReceiveBytes: 4_000 });
  const filter = { states: ['AWAITING_REQUISITION_FULFILLMENT'] };
  const seen: string[] = [];
  let [halved, pageSize] = [0, 1_000];
  for (let token: string | undefined; token !== ''; ) {
    const request = { parent: acme.name, page_size: pageSize, page_token: token ?? '', filter };
    const page = small.call('Measurements/ListMeasurements', request);
    const code = await codeOf(page);
    if (code === 'RESOURCE_EXHAUSTED' && pageSize > 1) {
      halved++;
      pageSize = Math.floor(pageSize / 2);
      continue;
    }
    const { measurements, next_page_token: next } = await page;
    seen.push(...measurements.map(({ name }: Message) => name));
    token = next;
  }
  expect(halved).toBeGreaterThan(5);
  expect(new Set(seen).size).toBe(seen.length);
  expect(seen).toEqual(expect.arrayContaining([...names]));
  small.close();
});
