import { randomUUID } from 'node:crypto';

export function multipart(part: string, json: string, data: AsyncIterable<Uint8Array>) {
  const boundary = randomUUID();
  const header = (name: string, type: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\nContent-Type: ${type}\r\n\r\n`;
  async function* bytes() {
    yield Buffer.from(`${header(part, 'application/json')}${json}\r\n`);
    yield Buffer.from(header('data', 'application/octet-stream'));
    yield* data;
    yield Buffer.from(`\r\n--${boundary}--\r\n`);
  }
  return { contentType: `multipart/form-data; boundary=${boundary}`, body: bytes() };
}
