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
  /** A demo party of the development exchange in the data directory. */
  as?: string;
  /** Receives connection warnings, which do not end the call. By default, they are printed. */
  onWarning?: (message: string) => void;
}

/** Someone is waiting for the response, so the third and last attempt starts within a second. */
const MAX_ATTEMPTS = 3;

/**
 * Uses the address and token from the options, then from MEX_URL and MEX_TOKEN, then from the development exchange in the
 * data directory (the token of the demo party `as`, or else the operator's). A development token is never sent to any other
 * exchange.
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
  // Reread the file on every call, because the exchange renews the tokens in it.
  const token = given ?? (async () => devToken(await readDevFile(dataDir), options.as));
  const { onWarning = warn } = options;
  return createClient({ baseUrl, token, maxAttempts: MAX_ATTEMPTS, userAgent: 'mex', onWarning });
}

/** Prints a warning. It may quote other parties, so it is made safe to print. */
export function warn(message: string): void {
  note(visible(message));
}

function devToken(dev: DevFile, as: string | undefined): string {
  return as === undefined ? dev.operator.token : findDevParty(dev, as).token;
}

/** Advice to add to errors whose messages contain none. */
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
  // This ID is the operator's only way to find the cause in the log.
  if (error.code === 'INTERNAL' && requestId !== undefined) lines.push(`The request ID is ${requestId}.`);
  return new Error(`${message} (${reason})${indented([...lines, ...waitOf(error)])}`, { cause: error });
}

const indented = (lines: string[]) => lines.map((line) => `\n  ${line}`).join('');

function waitOf({ retryAfterSeconds: seconds }: { retryAfterSeconds: number | undefined }): string[] {
  return seconds === undefined || seconds === 0 ? [] : [`Try again in ${Math.ceil(seconds)} s.`];
}
