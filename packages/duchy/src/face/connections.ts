import type { Server, Socket } from 'node:net';
import { addTo } from './slots.ts';

/** Limits the number of connections per address, so that no address can use all connections. */
export function limitConnections(server: Server, mostOfAddress: number): void {
  const open = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    if ((open.get(address) ?? 0) >= mostOfAddress) {
      socket.destroy();
      return;
    }
    addTo(open, address, 1);
    socket.once('close', () => addTo(open, address, -1));
  });
}
