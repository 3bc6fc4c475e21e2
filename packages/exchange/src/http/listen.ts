/** The HTTP server at its address. */
import { type Address, type Listening, listenAt } from '@measurement-exchange/server';
import { createServer, type ServerOptions } from './server.ts';

export type ListenOptions = Omit<ServerOptions, 'tls'> & Address;

export function listen(options: ListenOptions): Promise<Listening> {
  return listenAt(options, (tls) => createServer({ ...options, tls }));
}
