/**
 * Reads the JSON file that MEX_CONFIG names. Error messages name a setting but never its value, which may be a secret.
 */
import { readFileSync } from 'node:fs';
import {
  ExchangeError,
  type JsonValue,
  parseJsonBytes,
  type Violation,
} from '@measurement-exchange/contract';
import { decode } from '@measurement-exchange/contract/codec';
import { object, partial } from '@measurement-exchange/contract/schema';
import { withProtocolDefaults } from './protocols.ts';
import { type Config, DEFAULTS, eachSetting } from './settings.ts';

const FILE = object(partial(eachSetting('schema')));

export function readConfigFile(path: string | undefined, problems: string[]): Partial<Config> {
  if (path === undefined) return {};
  const report = (problem: string) => problems.push(`MEX_CONFIG ${path}${problem}`);
  let file: JsonValue;
  try {
    file = parseJsonBytes(readFileSync(path));
  } catch (error) {
    const { message } = error as Error;
    report(error instanceof ExchangeError ? ` is not JSON. ${message}` : ` cannot be read: ${message}.`);
    return {};
  }
  const violations: Violation[] = nullSettings(file);
  const config = decode(FILE, file, violations);
  for (const { field, description } of violations) report(`: ${field || 'it'} ${description}.`);
  return withDefaults((config ?? {}) as Partial<Config>);
}

/** Adds default values for members that the file omits inside `computations`, `protocols`, and `webhooks`. */
function withDefaults(file: Partial<Config>): Partial<Config> {
  const { computations, protocols, webhooks } = file;
  return {
    ...file,
    ...(webhooks && { webhooks: { ...DEFAULTS.webhooks, ...webhooks } }),
    ...(computations && { computations: { ...DEFAULTS.computations, ...computations } }),
    ...(protocols && { protocols: withProtocolDefaults(protocols) }),
  };
}

/** Reports settings that are null, because the author of the file probably forgot to fill in the value. */
function nullSettings(file: JsonValue): Violation[] {
  return Object.entries(file ?? {})
    .filter(([, value]) => value === null)
    .map(([field]) => ({ field, description: 'must not be null' }));
}
