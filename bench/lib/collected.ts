/** Collects the garbage of a Node process through its inspector, and then reads the resident memory of the process. */
import { residentBytes } from './exchange.ts';

/** `inspectorUrl` is the WebSocket URL that Node prints when it starts with `--inspect`. */
export async function collectedBytes(pid: number, inspectorUrl: string): Promise<number> {
  const socket = new WebSocket(inspectorUrl);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = reject;
  });
  const collected = new Promise((resolve) => {
    socket.onmessage = resolve;
  });
  socket.send(JSON.stringify({ id: 1, method: 'HeapProfiler.collectGarbage' }));
  await collected;
  socket.close();
  return residentBytes(pid).now;
}
