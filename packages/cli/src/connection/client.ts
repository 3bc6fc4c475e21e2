/** Connects a command to the exchange, using the address and token from its options or the environment. */
import { loadConfig } from '@measurement-exchange/exchange/config';
import {
  createClient,
  type ExchangeClient,
  ExchangeError,
  UnexpectedResponse,
} from '@measurement-exchange/sdk';
import { readDevFile } from '../files/devFile.ts';
import { withoutSlash } from '../signIn/addresses.ts';
import { chosenProfile } from '../signIn/profiles.ts';
import { note, visible } from '../terminal/output.ts';
import { type TokenOptions, tokenSource } from './token.ts';
import { remembering, tokenAdvice } from './tokenInUse.ts';

export interface ClientOptions extends TokenOptions {
  url?: string;
  /** Receives connection warnings, which do not end the call. By default, they are printed. */
  onWarning?: (message: string) => void;
}

/** The maximum number of attempts for a call. It is low because a person is waiting for the response. */
const MAX_ATTEMPTS = 3;

export interface Access {
  baseUrl: string;
  token: () => Promise<string>;
  /** True for a program that runs unattended. Such a program can keep retrying for longer than a person would wait. */
  isProgram: boolean;
}

/**
 * Finds the address of the exchange, and a token for it. Checks the options first, then the environment, the chosen
 * profile, and the development exchange. A stored token is sent only to the exchange that it belongs to.
 */
export async function accessOf(options: ClientOptions): Promise<Access> {
  const { dataDir } = loadConfig(process.env, { mode: 'development' });
  const dev = await readDevFile(dataDir).catch(() => undefined);
  // With --as, ignore the profile, because the data directory contains everything that a demo party needs.
  const profile = options.as === undefined ? await chosenProfile() : undefined;
  const named = options.url ?? process.env.MEX_URL ?? profile?.url;
  const url = named ?? dev?.baseUrl;
  if (!url) {
    throw new Error(
      'Say where the exchange is: mex login, --url, or MEX_URL (or start one here: npm start).',
    );
  }
  const baseUrl = withoutSlash(url);
  const { token, isProgram = false } = tokenSource(options, {
    baseUrl,
    isNamed: named !== undefined,
    profile,
    dev,
    dataDir,
  });
  return { baseUrl, token: remembering(token), isProgram };
}

export async function connect(options: ClientOptions): Promise<ExchangeClient> {
  const { baseUrl, token, isProgram } = await accessOf(options);
  const { onWarning = warn } = options;
  return createClient({
    baseUrl,
    token,
    ...(!isProgram && { maxAttempts: MAX_ATTEMPTS }),
    userAgent: 'mex',
    onWarning,
  });
}

/** Prints a warning. Control characters are replaced, because the warning may quote text from another party. */
export function warn(message: string): void {
  note(visible(message));
}

const ADVICE: Record<string, string> = {
  TOKEN_INVALID: 'Get a fresh token with mex login, or (in development: mex token <name>) set MEX_TOKEN.',
  PERMISSION_DENIED:
    'The token in use may not do this: call as an operator, or as the party itself (in development: --as <party>).',
  PRINCIPAL_UNKNOWN: 'Ask the operator to register the party: mex admin onboard.',
  PRINCIPAL_SUSPENDED: 'Ask the operator why, and to lift it: mex admin parties resume.',
};

/**
 * Adds the reason, violations, and advice to an error from the exchange or a proxy. In an error about an invalid
 * address or token, replaces the SDK's name of the setting with the command-line option. Returns other errors
 * unchanged.
 */
export function explained(error: unknown): unknown {
  if (error instanceof UnexpectedResponse) {
    const advice = 'Check the address, which is that of --url or MEX_URL, and the proxies on the way there.';
    return new Error(`${error.message}${indented([advice, ...waitOf(error)])}`, { cause: error });
  }
  if (error instanceof TypeError) return named(error);
  if (!(error instanceof ExchangeError)) return error;
  const { message, reason, violations, requestId } = error;
  // Drop a violation that only repeats the error message.
  const lines = violations
    .map(({ field, description }) => `${field}: ${description}`)
    .filter((line) => line !== message);
  const advice = [tokenAdvice(reason), ADVICE[reason]];
  lines.push(...advice.filter((line) => line !== undefined));
  // Print the request ID, so that the exchange's operator can find the cause of the error in the log.
  if (error.code === 'INTERNAL' && requestId !== undefined) lines.push(`The request ID is ${requestId}.`);
  return new Error(`${message} (${reason})${indented([...lines, ...waitOf(error)])}`, { cause: error });
}

/** Maps the SDK's name of each setting to the text that replaces this name in error messages. */
const SETTINGS: Record<string, string> = {
  baseUrl: 'The address (--url or MEX_URL)',
  token: 'The token (--token or MEX_TOKEN)',
};

function named(error: TypeError): TypeError {
  const [, setting = '', problem] =
    /^(\w+): (.*?)(?:, or a function that returns one)?\.?$/s.exec(error.message) ?? [];
  const option = SETTINGS[setting];
  return option === undefined ? error : new TypeError(`${option} ${problem}.`, { cause: error });
}

const indented = (lines: string[]) => lines.map((line) => `\n  ${line}`).join('');

function waitOf({ retryAfterSeconds: seconds }: { retryAfterSeconds: number | undefined }): string[] {
  return seconds === undefined || seconds === 0 ? [] : [`Try again in ${Math.ceil(seconds)} s.`];
}
