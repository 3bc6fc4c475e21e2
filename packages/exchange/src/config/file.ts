/** The JSON file of MEX_CONFIG: what each setting must look like, so that a slip is a sentence and no crash. */
import { readFileSync } from 'node:fs';
import type { IssuerConfig } from '../auth/tokens.ts';
import type { Config } from './settings.ts';

/** What is wrong with a value; it never quotes one, because a value may be a secret. */
type Check = (value: unknown, path: string) => string[];

const is =
  (what: string, test: (value: unknown) => boolean): Check =>
  (value, path) =>
    test(value) ? [] : [`${path} must be ${what}.`];

const text = is('a string', (value) => typeof value === 'string');
const number = is('a number', (value) => typeof value === 'number');
const flag = is('true or false', (value) => typeof value === 'boolean');
const oneOf = (...choices: string[]) =>
  is(`one of ${choices.join(', ')}`, (value) => choices.includes(value as string));

const listOf =
  (check: Check): Check =>
  (value, path) =>
    Array.isArray(value)
      ? value.flatMap((item, i) => check(item, `${path}[${i}]`))
      : [`${path} must be a list.`];

const recordOf =
  (check: Check): Check =>
  (value, path) =>
    isObject(value)
      ? Object.entries(value).flatMap(([key, item]) => check(item, `${path}["${key}"]`))
      : [`${path} must be an object.`];

const objectOf =
  (fields: Record<string, Check>, required: string[] = []): Check =>
  (value, path) => {
    if (!isObject(value)) return [`${path} must be an object.`];
    const inside = path === '' ? '' : `${path}.`;
    return [
      ...required.filter((key) => !Object.hasOwn(value, key)).map((key) => `${inside}${key} is missing.`),
      ...Object.entries(value).flatMap(([key, item]) =>
        Object.hasOwn(fields, key)
          ? fields[key]!(item, `${inside}${key}`)
          : [`there is no setting named ${inside}${key}.`],
      ),
    ];
  };

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const issuer: Record<keyof IssuerConfig, Check> = {
  issuer: text,
  audience: text,
  jwksUri: text,
  jwksFile: text,
  algorithms: listOf(text),
  maxTokenAgeSeconds: number,
  principalClaim: text,
};
const days = is('a number of days above 0', (value) => typeof value === 'number' && value > 0);
const rate = objectOf({ perSecond: number, burst: number }, ['perSecond', 'burst']);

const settings: Record<keyof Config, Check> = {
  mode: oneOf('development', 'production'),
  host: text,
  port: number,
  dataDir: text,
  databaseUrl: text,
  databaseOwnerUrl: text,
  databaseAppRole: text,
  issuers: listOf(objectOf(issuer, ['issuer', 'audience'])),
  allowedPrivateHosts: listOf(text),
  pageTokenKey: text,
  checks: oneOf('advisory', 'strict'),
  protocols: listOf(text),
  bodyLimitBytes: number,
  rate,
  rates: recordOf(rate),
  tls: objectOf({ certFile: text, keyFile: text }, ['certFile', 'keyFile']),
  behindTlsProxy: flag,
  trustedProxies: listOf(text),
  corsOrigins: listOf(text),
  retention: objectOf({ cancelPendingAfterDays: days, removeTerminalAfterDays: days }),
  logLevel: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
};

export function configFileProblems(file: unknown): string[] {
  return isObject(file) ? objectOf(settings)(file, '') : ['it must hold one JSON object.'];
}

/** The settings in the file; nothing of a file with a problem. */
export function readConfigFile(path: string | undefined, problems: string[]): Partial<Config> {
  if (path === undefined) return {};
  let file: unknown;
  try {
    file = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    problems.push(`MEX_CONFIG ${path} ${unreadable(error as Error)}`);
    return {};
  }
  const found = configFileProblems(file);
  problems.push(...found.map((problem) => `MEX_CONFIG ${path}: ${problem}`));
  return found.length > 0 ? {} : (file as Partial<Config>);
}

/** Only the place: JSON.parse quotes what stands there. */
function unreadable(error: Error): string {
  if (!(error instanceof SyntaxError)) return `cannot be read: ${error.message}.`;
  const place = /\(line \d+ column \d+\)/.exec(error.message);
  return `is not JSON${place === null ? '' : ` ${place[0]}`}.`;
}
