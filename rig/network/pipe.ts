/** One direction of a connection through the proxy. Bytes pass in order, at the time that the current fault allows. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from './faults.ts';
import type { Piece, Reader } from './postgresWire.ts';

/** The sender is paused when more than this many bytes are held. */
const HELD_BYTES = 1024 * 1024;

/** State that both directions of a connection share. */
interface Shared {
  readonly fault: Fault | undefined;
  readonly isCut: boolean;
  /** A signal that is aborted when the fault changes. */
  readonly change: AbortSignal;
  swallows(piece: Piece | 'end'): boolean;
  jitter(): number;
  allowance(): number;
  passed(bytes: number): void;
  drop(): void;
}

export class Pipe {
  private readonly connection: Shared;
  private readonly from: Socket;
  private readonly to: Socket;
  private readonly dropsAt: 'dropBeforeCommit' | 'dropAfterCommit';
  private readonly queue: { piece: Piece | 'end'; arrived: number; jitter: number }[] = [];
  private held = 0;
  private busy = false;

  constructor(connection: Shared, from: Socket, to: Socket, read: Reader, dropsAt: Pipe['dropsAt']) {
    this.connection = connection;
    this.from = from;
    this.to = to;
    this.dropsAt = dropsAt;
    from.on('data', (chunk: Buffer) => {
      for (const piece of read(chunk)) this.add(piece);
    });
    from.on('end', () => this.add('end'));
  }

  private add(piece: Piece | 'end'): void {
    if (this.connection.swallows(piece)) return;
    const jitter = this.connection.jitter();
    this.queue.push({ piece, arrived: performance.now(), jitter });
    this.held += piece === 'end' ? 0 : piece.bytes.length;
    if (this.held > HELD_BYTES) this.from.pause();
    if (!this.busy) void this.pump();
  }

  private async pump(): Promise<void> {
    this.busy = true;
    while (this.queue.length > 0 && !this.connection.isCut) {
      const { piece, arrived, jitter } = this.queue[0]!;
      const { fault } = this.connection;
      if (fault?.kind === 'blackHole') {
        await this.pause(2 ** 30);
        continue;
      }
      if (fault?.kind === 'latency') {
        const wait = arrived + fault.ms + jitter - performance.now();
        if (wait > 0) {
          await this.pause(wait);
          continue;
        }
      }
      this.queue.shift();
      await (piece === 'end' ? this.end(fault) : this.pass(piece, fault));
      if (this.held <= HELD_BYTES) this.from.resume();
    }
    this.busy = false;
  }

  private async end(fault: Fault | undefined): Promise<void> {
    if (fault?.kind === 'slowClose') await this.pause(fault.ms);
    this.to.end();
  }

  private async pass({ bytes, commit }: Piece, fault: Fault | undefined): Promise<void> {
    if (commit && fault?.kind === this.dropsAt && fault.chance()) {
      this.connection.drop();
      return;
    }
    for (let at = 0; at < bytes.length && !this.connection.isCut; ) {
      const current = this.connection.fault;
      const slice = bytes.subarray(at, at + Math.min(sliceBytes(current), this.connection.allowance()));
      at += slice.length;
      this.held -= slice.length;
      // If the receiver does not read, wait until it reads or closes.
      if (slice.length > 0 && !this.to.destroyed && !this.to.write(slice)) {
        await Promise.race([once(this.to, 'drain'), once(this.to, 'close')]).catch(() => {});
      }
      this.connection.passed(slice.length);
      const ms = pauseAfter(slice.length, current);
      if (ms > 0) await this.pause(ms);
    }
  }

  /** Waits, but returns early if the fault changes. */
  private async pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.connection.change }).catch(() => {});
  }
}

function sliceBytes(fault: Fault | undefined): number {
  if (fault?.kind === 'slicer') return fault.bytes;
  if (fault?.kind === 'bandwidth') return Math.max(1, Math.floor(fault.bytesPerSecond / 20));
  return Number.POSITIVE_INFINITY;
}

function pauseAfter(bytes: number, fault: Fault | undefined): number {
  if (fault?.kind === 'slicer') return fault.ms;
  if (fault?.kind === 'bandwidth') return (bytes / fault.bytesPerSecond) * 1000;
  return 0;
}
