/** Request templates with placeholders `<<0>>`, `<<1>>` …, which are filled with the values of an item. */

export interface Template {
  method: 'GET' | 'POST';
  path: string;
  body?: string;
}

/** The address of a server, and the token of the caller. */
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
