/**
 * Requests with an ambiguous end, so that the exchange and a proxy in front of it could disagree about where the next
 * request starts.
 */
import { connect } from 'node:net';

const HEAD =
  'POST /v2alpha/measurementConsumers/globex/measurements HTTP/1.1\r\nHost: exchange\r\nContent-Type: application/json\r\n';
/** The hidden request. Its response is recognizable, because no other request in this file gets the same response. */
const HIDDEN = 'GET /healthz HTTP/1.1\r\nHost: exchange\r\n\r\n';
const framed = (...headers: string[]) => `${HEAD}${headers.join('\r\n')}\r\n\r\n`;
const CHUNKED = 'Transfer-Encoding: chunked';

/** Byte sequences that contain the hidden request. The exchange must not respond to the hidden request. */
export const SMUGGLED: [title: string, bytes: string][] = [
  ['a Content-Length before chunked', `${framed('Content-Length: 4', CHUNKED)}0\r\n\r\n${HIDDEN}`],
  ['a Content-Length after chunked', `${framed(CHUNKED, 'Content-Length: 4')}0\r\n\r\n${HIDDEN}`],
  [
    'a Content-Length after chunked that covers the hidden request',
    `${framed(CHUNKED, `Content-Length: ${HIDDEN.length + 5}`)}0\r\n\r\n${HIDDEN}`,
  ],
  [
    'two Content-Length headers',
    `${framed('Content-Length: 0', `Content-Length: ${HIDDEN.length}`)}${HIDDEN}`,
  ],
  ['two lengths in one Content-Length header', `${framed(`Content-Length: 0, ${HIDDEN.length}`)}${HIDDEN}`],
  ['a length with a sign', `${framed('Content-Length: +0')}${HIDDEN}`],
  ['a length with a space before the colon', `${framed('Content-Length : 0')}${HIDDEN}`],
  ['a hexadecimal length', `${framed('Content-Length: 0x0')}${HIDDEN}`],
  ['a negative length', `${framed('Content-Length: -1')}${HIDDEN}`],
  ['a length with an underscore', `${framed('Content_Length: 5', 'Content-Length: 0x0')}${HIDDEN}`],
  ['an unknown coding', `${framed('Transfer-Encoding: xchunked')}0\r\n\r\n${HIDDEN}`],
  ['a coding with a space before the colon', `${framed('Transfer-Encoding : chunked')}0\r\n\r\n${HIDDEN}`],
  ['a coding after a tab', `${framed('Transfer-Encoding:\tchunked', 'Content-Length: 4')}0\r\n\r\n${HIDDEN}`],
  ['a coding on a folded line', `${framed('Transfer-Encoding:', ' chunked')}0\r\n\r\n${HIDDEN}`],
  ['a coding after chunked', `${framed('Transfer-Encoding: chunked, identity')}0\r\n\r\n${HIDDEN}`],
  ['chunked twice', `${framed(CHUNKED, CHUNKED)}0\r\n\r\n${HIDDEN}`],
  ['chunked and an unknown coding', `${framed(CHUNKED, 'Transfer-Encoding: cow')}0\r\n\r\n${HIDDEN}`],
  [
    'a coding after a bare carriage return',
    `${framed(`X: a\rTransfer-Encoding: chunked`)}0\r\n\r\n${HIDDEN}`,
  ],
  [
    'a coding after a bare newline',
    `${framed(`X: a\nTransfer-Encoding: chunked`, 'Content-Length: 4')}0\r\n\r\n${HIDDEN}`,
  ],
  ['chunk lines that end in a bare newline', `${framed(CHUNKED)}0\n\n${HIDDEN}`],
  ['a chunk size beyond 64 bits', `${framed(CHUNKED)}${'f'.repeat(17)}\r\n${HIDDEN}`],
  ['a chunk size with a sign', `${framed(CHUNKED)}+0\r\n\r\n${HIDDEN}`],
  ['a chunk size with the prefix 0x', `${framed(CHUNKED)}0x0\r\n\r\n${HIDDEN}`],
  ['a chunk that is longer than its size', `${framed(CHUNKED)}1\r\nab\r\n0\r\n\r\n${HIDDEN}`],
  ['NUL in a header', `${framed('X: \0', 'Content-Length: 4', CHUNKED)}0\r\n\r\n${HIDDEN}`],
  ['a space before the first header', `${HEAD.replace('Host', ' Host')}\r\n${HIDDEN}`],
  [
    'an upgrade',
    `${HEAD}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nContent-Length: 4\r\n${CHUNKED}\r\n\r\n0\r\n\r\n${HIDDEN}`,
  ],
];

const PATIENCE_MS = 5_000;

/**
 * Sends `bytes`, with `token` added to the first request. The exchange must send one response, which has the status
 * 400, and close the connection. Returns the violation if the exchange does anything else.
 */
export function smuggle(url: string, bytes: string, token: string): Promise<string | undefined> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) });
    let text = '';
    const timer = setTimeout(() => socket.destroy(new Error('kept')), PATIENCE_MS);
    let kept = false;
    socket.on('error', (error) => {
      kept = error.message === 'kept';
    });
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('close', () => {
      clearTimeout(timer);
      const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => match[1]);
      if (text.includes('"status":"ok"')) resolve(`the hidden request got a response (${statuses})`);
      else if (statuses.join() !== '400') resolve(`got ${statuses} instead of one 400`);
      else resolve(kept ? 'the connection was kept open' : undefined);
    });
    socket.write(
      Buffer.from(
        bytes.replace('\r\n', () => `\r\nAuthorization: Bearer ${token}\r\n`),
        'latin1',
      ),
    );
  });
}
