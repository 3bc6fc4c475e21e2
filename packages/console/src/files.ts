/** Reads the built files of the console, and prepares responses with them. Runs on Node. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder with the built files. The path is the same in the repository and in the published package. */
export const FOLDER = fileURLToPath(new URL('../dist/web/', import.meta.url));
/** The file that lists the SHA-256 of every other file in the folder, in base64. */
export const LIST = 'files.json';

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};
/** The file extension of each encoding, best encoding first. */
export const ENCODINGS = { br: '.br', gzip: '.gz' } as const;
type Encoding = keyof typeof ENCODINGS;

interface StoredFile {
  bytes: Buffer;
  compressed: Partial<Record<Encoding, Buffer>>;
}

export interface FileRequest {
  path: string;
  accept: string | undefined;
  acceptEncoding: string | undefined;
}

export interface FileResponse {
  headers: Record<string, string>;
  body: Buffer;
}

export interface ConsoleFiles {
  /**
   * Returns the file at the path. If no such file exists and the request accepts HTML, returns index.html, because the
   * address of a console page is not the path of a file. Otherwise, returns undefined for a missing file.
   */
  respond(request: FileRequest): FileResponse | undefined;
}

/**
 * Reads all files. Throws if a file's hash differs from the hash in files.json. The responses allow the page to connect
 * only to its own origin and to the origins in `connectTo`.
 */
export async function readConsole(connectTo: readonly string[] = [], folder = FOLDER): Promise<ConsoleFiles> {
  const list = await readFile(join(folder, LIST), 'utf8').catch(() => {
    throw new Error(`The console is not built: ${folder} is missing. Run npm run build.`);
  });
  const sums = Object.entries(JSON.parse(list) as Record<string, string>);
  const stored = new Map(await Promise.all(sums.map((entry) => readStored(folder, sums, entry))));
  const headers = headersOf(connectTo);
  return {
    respond({ path, accept, acceptEncoding }) {
      const name = path === '/' ? 'index.html' : path.slice(1);
      const found = stored.get(name) ?? (acceptsHtml(accept) ? stored.get('index.html') : undefined);
      if (found === undefined) return undefined;
      const isHashed = stored.has(name) && name.startsWith('assets/');
      const encoding = encodingFor(found, acceptEncoding);
      return {
        headers: {
          ...headers,
          'content-type':
            TYPES[extname(stored.has(name) ? name : 'index.html')] ?? 'application/octet-stream',
          'cache-control': isHashed ? 'public, max-age=31536000, immutable' : 'no-store',
          vary: 'accept-encoding',
          ...(encoding && { 'content-encoding': encoding }),
        },
        body: encoding ? found.compressed[encoding]! : found.bytes,
      };
    },
  };
}

type Entry = [name: string, sum: string];

async function readStored(folder: string, sums: Entry[], [name, sum]: Entry): Promise<[string, StoredFile]> {
  const bytes = await readChecked(folder, name, sum);
  const compressed: StoredFile['compressed'] = {};
  for (const [encoding, extension] of Object.entries(ENCODINGS)) {
    const copy = sums.find(([other]) => other === `${name}${extension}`);
    if (copy) compressed[encoding as Encoding] = await readChecked(folder, ...copy);
  }
  return [name, { bytes, compressed }];
}

async function readChecked(folder: string, name: string, sum: string): Promise<Buffer> {
  const bytes = await readFile(join(folder, name));
  if (sumOf(bytes) === sum) return bytes;
  throw new Error(
    `${join(folder, name)} is not the file that ${LIST} lists: install or build the console again.`,
  );
}

export const sumOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('base64');

/**
 * Returns the headers of every response. The policy allows connections only to the page's own origin and to the origins
 * in `connectTo`, such as the issuers with which users sign in.
 */
export function headersOf(connectTo: readonly string[]): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob:",
    ["connect-src 'self'", ...connectTo].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ];
  return {
    'content-security-policy': policy.join('; '),
    // If users sign in at an issuer, the page must be able to control the issuer's window. Other pages must not control
    // this page.
    'cross-origin-opener-policy': connectTo.length > 0 ? 'same-origin-allow-popups' : 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  };
}

const acceptsHtml = (accept = '') => /\btext\/html\b/i.test(accept);

/** Returns the best encoding that the caller accepts and that the file is stored in. `q=0` excludes an encoding. */
function encodingFor({ compressed }: StoredFile, accepted = ''): Encoding | undefined {
  const names = accepted
    .split(',')
    .filter((part) => !/;\s*q=0(?:\.0*)?\s*$/.test(part))
    .map((part) => part.split(';')[0]!.trim().toLowerCase());
  return (Object.keys(ENCODINGS) as Encoding[]).find((name) => names.includes(name) && compressed[name]);
}
