/** Calls to an exchange, for the commands of its operator and of its parties. */
import { API_PREFIX, type JsonObject } from '@measurement-exchange/contract';
import { loadConfig } from '@measurement-exchange/exchange';
import { readDevFile } from './devFile.ts';

export interface Client {
  call<T = JsonObject>(method: string, path: string, body?: unknown): Promise<T>;
  /** A list, page by page. */
  pages<T = JsonObject>(path: string, member: string, query?: Record<string, string>): AsyncGenerator<T[]>;
  /** Every item of a list. */
  list<T = JsonObject>(path: string, member: string, query?: Record<string, string>): Promise<T[]>;
}

export interface ClientOptions {
  url?: string;
  token?: string;
}

/** The exchange refused; the reason is one of docs/errors.md. */
export class Refused extends Error {
  readonly reason: string | undefined;
  readonly metadata: Record<string, string>;
  constructor(message: string, reason?: string, metadata: Record<string, string> = {}) {
    super(message);
    this.reason = reason;
    this.metadata = metadata;
  }
}

/**
 * Address and token from the options, else from MEX_URL and MEX_TOKEN, else the operator of the development
 * exchange in the data directory. That operator's token goes to that exchange only.
 */
export async function connect(options: ClientOptions): Promise<Client> {
  let url = (options.url ?? process.env.MEX_URL)?.replace(/\/+$/, '');
  let token = options.token ?? process.env.MEX_TOKEN;
  if (url === undefined || token === undefined) {
    const dev = await readDevFile(loadConfig(process.env, { mode: 'development' }).dataDir).catch(
      () => undefined,
    );
    url ??= dev?.baseUrl;
    if (url === dev?.baseUrl) token ??= dev?.operator.token;
  }
  if (url === undefined) {
    throw new Error('Say where the exchange is: --url, or MEX_URL (or start one here: npm start).');
  }
  if (token === undefined)
    throw new Error(`Say who you are at ${url}: set MEX_TOKEN to a bearer token, or give --token.`);
  const base = `${url}${API_PREFIX}/`;
  const headers = { authorization: `Bearer ${token}` };

  const client: Client = {
    async call(method, path, body) {
      const response = await fetch(`${base}${path}`, {
        method,
        headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
        body: body === undefined ? null : JSON.stringify(body),
        redirect: 'error',
      }).catch((error: Error) => {
        const why = (error.cause as Error)?.message ?? error.message;
        throw new Error(`${url} does not answer (${why}). Does the exchange run there?`);
      });
      const answer = await response.json().catch(() => undefined);
      if (!response.ok) throw refusal(response.status, answer);
      return answer;
    },
    async *pages(path, member, query = {}) {
      let pageToken: string | undefined;
      do {
        const search = new URLSearchParams({
          pageSize: '1000',
          ...query,
          ...(pageToken ? { pageToken } : {}),
        });
        const page = await client.call<Record<string, never>>('GET', `${path}?${search}`);
        yield page[member] ?? [];
        pageToken = page.nextPageToken;
      } while (pageToken !== undefined);
    },
    async list(path, member, query) {
      const items: never[] = [];
      for await (const page of client.pages<never>(path, member, query)) items.push(...page);
      return items;
    },
  };
  return client;
}

interface Detail {
  reason?: string;
  metadata?: Record<string, string>;
  fieldViolations?: { field: string; description: string }[];
}

/** What to do about refusals whose message, made for every caller, does not say. */
const ADVICE: Record<string, string> = {
  TOKEN_INVALID: 'Get a fresh token (in development: mex token <name>) and set MEX_TOKEN.',
  PERMISSION_DENIED:
    'The token in use may not do this: mex admin acts as an operator, or as the party itself.',
};

/** What the exchange said, field by field. */
function refusal(status: number, answer: unknown): Error {
  const error = (answer as { error?: { message: string; details?: Detail[] } } | undefined)?.error;
  if (error === undefined) return new Refused(`The exchange answered ${status}.`);
  const details = error.details ?? [];
  const { reason, metadata } = details.find((d) => d.reason !== undefined) ?? {};
  const fields = details.flatMap((d) => d.fieldViolations ?? []);
  const lines = fields.map(({ field, description }) => `\n  ${field}: ${description}`).join('');
  const advice = ADVICE[reason ?? ''];
  return new Refused(
    `${error.message} (${reason})${lines}${advice ? `\n  ${advice}` : ''}`,
    reason,
    metadata,
  );
}
