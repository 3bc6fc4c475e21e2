/** A small TCP proxy in this process that applies network faults to connections. */
import { once } from 'node:events';
import { connect, createServer, type NetConnectOpts, type Server, type Socket } from 'node:net';
import type { Random } from '../random.ts';
import { Connection } from './connection.ts';
import type { Fault } from './faults.ts';

export interface ProxyOptions {
  random: Random;
  /** Whether to parse the stream and detect COMMITs. */
  postgres?: boolean;
}

export class ChaosProxy {
  /** The server that new connections are forwarded to. */
  target: NetConnectOpts | undefined;
  /** The number of dropped COMMITs and dropped responses to COMMITs. */
  drops = 0;
  private readonly random: Random;
  private readonly postgres: boolean;
  private readonly connections = new Set<Connection>();
  private server: Server;
  private port = 0;
  private fault: Fault | undefined;
  private share = 1;

  private constructor({ random, postgres = false }: ProxyOptions) {
    this.random = random;
    this.postgres = postgres;
    this.server = this.listener();
  }

  static async start(options: ProxyOptions, target?: NetConnectOpts): Promise<ChaosProxy> {
    const proxy = new ChaosProxy(options);
    proxy.target = target;
    await proxy.listen();
    return proxy;
  }

  /** The address of the proxy, to be used instead of the server's address. */
  get address(): { host: string; port: number } {
    return { host: '127.0.0.1', port: this.port };
  }

  /**
   * Starts the fault on the fraction `share` of the connections. A connection that begins during the fault gets the
   * fault with the same probability. Connections that begin during a `halfOpen` fault do not get the fault.
   */
  async impose(fault: Fault, share = 1): Promise<void> {
    this.fault = fault;
    this.share = share;
    if (fault.kind === 'down') this.server.close();
    for (const connection of this.connections) if (this.random.chance(share)) connection.impose(fault);
  }

  async clear(): Promise<void> {
    const wasDown = this.fault?.kind === 'down';
    this.fault = undefined;
    for (const connection of this.connections) connection.impose(undefined);
    if (!wasDown) return;
    this.server = this.listener();
    await this.listen();
  }

  async stop(): Promise<void> {
    this.server.close();
    for (const connection of this.connections) connection.cut();
  }

  private listener(): Server {
    return createServer({ allowHalfOpen: true, noDelay: true }, (client) => this.accept(client));
  }

  private async listen(): Promise<void> {
    this.server.listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
    this.port = (this.server.address() as { port: number }).port;
  }

  private accept(client: Socket): void {
    if (this.target === undefined) {
      client.destroy();
      return;
    }
    const server = connect({ ...this.target, allowHalfOpen: true, noDelay: true } as NetConnectOpts);
    const connection: Connection = new Connection(client, server, {
      postgres: this.postgres,
      chance: () => this.random.int(1000) / 1000,
      onDrop: () => this.drops++,
      onClose: () => this.connections.delete(connection),
    });
    this.connections.add(connection);
    const { fault } = this;
    if (fault === undefined || fault.kind === 'halfOpen' || !this.random.chance(this.share)) return;
    connection.impose(fault);
  }
}
