/** Requests as texts with places `<<0>>`, `<<1>>` … that each item of a list fills. */

export interface Template {
  method: 'GET' | 'POST';
  path: string;
  body?: string;
}

/** The server, and the caller's token. */
export interface Target {
  port: number;
  token?: string;
  tls?: boolean;
}

export function fill(text: string, item: readonly string[]): string {
  return text.replace(/<<(\d+)>>/g, (_, n) => item[Number(n)]!);
}

export function requestBytes(
  { method, path, body }: Template,
  target: Target,
  item: readonly string[],
): Buffer {
  const text = body === undefined ? '' : fill(body, item);
  const lines = [
    `${method} ${fill(path, item)} HTTP/1.1`,
    `host: 127.0.0.1:${target.port}`,
    ...(target.token === undefined ? [] : [`authorization: Bearer ${target.token}`]),
    ...(body === undefined
      ? []
      : ['content-type: application/json', `content-length: ${Buffer.byteLength(text)}`]),
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${text}`);
}
