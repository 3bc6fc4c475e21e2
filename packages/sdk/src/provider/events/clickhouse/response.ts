/** Reads the bytes of a response in the server's binary row format. */
import { brokenResponse } from './problems.ts';

/** The number of bytes to keep from the end of a response, where a server may write an exception of up to 16 KiB. */
const TAIL = 20_000;
/** The maximum length of an array. A higher number means that the bytes are not a length. */
const MAX_LENGTH = 2 ** 30;

export class ResponseReader {
  private readonly chunks: AsyncIterator<Buffer>;
  private chunk: Buffer = Buffer.alloc(0);
  private at = 0;
  private tail = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Buffer>) {
    this.chunks = chunks[Symbol.asyncIterator]();
  }

  /** Fills the array from the response. Throws if the response ends too early. */
  async fill(target: Uint8Array): Promise<void> {
    for (let filled = 0; filled < target.length; ) {
      if (this.at === this.chunk.length && !(await this.next())) throw brokenResponse(this.tail.toString());
      const part = this.chunk.subarray(this.at, this.at + target.length - filled);
      target.set(part, filled);
      this.at += part.length;
      filled += part.length;
    }
  }

  /** Reads a length. Each byte contains 7 bits of the length, and the first byte contains the lowest bits. */
  async length(): Promise<number> {
    const byte = new Uint8Array(1);
    for (let [length, scale] = [0, 1]; ; scale *= 128) {
      await this.fill(byte);
      length += (byte[0]! & 127) * scale;
      if (length > MAX_LENGTH) return this.broken();
      if (byte[0]! < 128) return length;
    }
  }

  /** Throws unless the response ends here. */
  async end(): Promise<void> {
    if (this.at < this.chunk.length || (await this.next())) await this.broken();
  }

  /** Reads the rest of the response, which may end with an exception, and throws. */
  async broken(): Promise<never> {
    while (await this.next());
    throw brokenResponse(this.tail.toString());
  }

  private async next(): Promise<boolean> {
    const { done, value } = await this.chunks.next();
    if (done) return false;
    [this.chunk, this.at] = [value, 0];
    this.tail = Buffer.concat([this.tail, value.subarray(-TAIL)]).subarray(-TAIL);
    return true;
  }

  /** Stops the statement if its response was not read to the end. */
  async close(): Promise<void> {
    await this.chunks.return?.();
  }
}
