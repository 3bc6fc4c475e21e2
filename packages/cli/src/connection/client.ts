/** Connects a command to the exchange, using the address and token from its options or the environment. */
import { loadConfig } from '@measurement-exchange/exchange/config';
import {
  createClient,
  type ExchangeClient,
  ExchangeError,
  UnexpectedResponse,
} from '@measurement-exchange/sdk';
import { type DevFile, findDevParty, readDevFile } from '../files/devFile.ts';
import { note, visible } from '../terminal/output.ts';

export interface ClientOptions {
  url?: string;
  token?: string;
  /** The demo party to act as, on the development exchange in the data directory. */
  as?: string;
  /** Receives connection warnings, which do not end the call. By default, they are printed. */
  onWarning?: (message: string) => void;
}

/** The maximum number of attempts for a call. It is low because a person is waiting for the response. */
const MAX_ATTEMPTS = 3;

/**
 * Takes the address and the token from the options, or else from MEX_URL and MEX_TOKEN, or else from the development
 * exchange in the data directory. In the last case, the token is that of the demo party `as`, or else the operator's. A
 * development token is never sent to another exchange.
 */
export async function connect(options: ClientOptions): Promise<ExchangeClient> {
  const { dataDir } = loadConfig(process.env, { mode: 'development' });
  const dev = await readDevFile(dataDir).catch(() => undefined);
  const baseUrl = (options.url ?? process.env.MEX_URL ?? dev?.baseUrl)?.replace(/\/+$/, '');
  if (baseUrl === undefined) {
    throw new Error('Say where the exchange is: --url, or MEX_URL (or start one here: npm start).');
  }
  const isDev = baseUrl === dev?.baseUrl;
  if (options.as !== undefined && options.token === undefined) {
    if (!isDev) {
      throw new Error(`--as is for the development exchange here, not for ${baseUrl}: give --token instead.`);
    }
    findDevParty(dev, options.as);
  }
  const given = options.token ?? (options.as === undefined ? process.env.MEX_TOKEN : undefined);
  if (given === undefined && !isDev) {
    throw new Error(`Say who you are at ${baseUrl}: set MEX_TOKEN to a bearer token, or give --token.`);
  }
  // Reread dev.json on every call, because the exchange renews the tokens in it.
  const token = given ?? (async () => devToken(await readDevFile(dataDir), options.as));
  const { onWarning = warn } = options;
  return createClient({ baseUrl, token, maxAttempts: MAX_ATTEMPTS, userAgent: 'mex', onWarning });
}

/** Prints a warning. Control characters are replaced, because the warning may quote other parties. */
export function warn(message: string): void {
  note(visible(message));
}

function devToken(dev: DevFile, as: string | undefined): string {
  return as === undefined ? dev.operator.token : findDevParty(dev, as).token;
}

/** Advice for the user, by the reason of the error. */
const ADVICE: Record<string, string> = {
  TOKEN_INVALID: 'Get a fresh token (in development: mex token <name>) and set MEX_TOKEN.',
  PERMISSION_DENIED:
    'The token in use may not do this: call as an operator, or as the party itself (in development: --as <party>).',
  PRINCIPAL_UNKNOWN: 'Ask the operator to bind the subject of your token: mex admin principals bind.',
  PRINCIPAL_SUSPENDED: 'Ask the operator why, and to lift it: mex admin parties resume.',
};

/** Adds the reason, violations, and advice to an error from the exchange or a proxy. Returns other errors unchanged. */
export function explained(error: unknown): unknown {
  if (error instanceof UnexpectedResponse) {
    const advice = 'Check the address, which is that of --url or MEX_URL, and the proxies on the way there.';
    return new Error(`${error.message}${indented([advice, ...waitOf(error)])}`, { cause: error });
  }
  if (!(error instanceof ExchangeError)) return error;
  const { message, reason, violations, requestId } = error;
  const lines = violations.map(({ field, description }) => `${field}: ${description}`);
  if (ADVICE[reason] !== undefined) lines.push(ADVICE[reason]);
  // Print the request ID, because the operator needs it to find the cause in the log.
  if (error.code === 'INTERNAL' && requestId !== undefined) lines.push(`The request ID is ${requestId}.`);
  return new Error(`${message} (${reason})${indented([...lines, ...waitOf(error)])}`, { cause: error });
}

const indented = (lines: string[]) => lines.map((line) => `\n  ${line}`).join('');

function waitOf({ retryAfterSeconds: seconds }: { retryAfterSeconds: number | undefined }): string[] {
  return seconds === undefined || seconds === 0 ? [] : [`Try again in ${Math.ceil(seconds)} s.`];
}
