/** The JSON file of MEX_CONFIG. A problem names its place and never quotes a value, which may be a secret. */
import { readFileSync } from 'node:fs';
import { type JsonValue, parseJsonBytes, type Violation } from '@measurement-exchange/contract';
import { decode } from '@measurement-exchange/contract/codec';
import { object, partial } from '@measurement-exchange/contract/schema';
import { withProtocolDefaults } from './protocols.ts';
import { type Config, DEFAULTS, eachSetting } from './settings.ts';

const FILE = object(partial(eachSetting('schema')));

/** The settings in the file; none where the file has a problem. */
export function readConfigFile(path: string | undefined, problems: string[]): Partial<Config> {
  if (path === undefined) return {};
  const report = (problem: string) => problems.push(`MEX_CONFIG ${path}${problem}`);
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    report(` cannot be read: ${(error as Error).message}.`);
    return {};
  }
  let file: JsonValue;
  try {
    file = parseJsonBytes(bytes);
  } catch (error) {
    report(` is not JSON. ${(error as Error).message}`);
    return {};
  }
  const violations: Violation[] = nullSettings(file);
  const config = decode(FILE, file, violations);
  for (const { field, description } of violations) report(`: ${field || 'it'} ${description}.`);
  return withDefaults((config ?? {}) as Partial<Config>);
}

/** Adds the defaults of the parts that a setting of several parts leaves out. */
function withDefaults(file: Partial<Config>): Partial<Config> {
  const { computations, protocols, webhooks } = file;
  return {
    ...file,
    ...(webhooks && { webhooks: { ...DEFAULTS.webhooks, ...webhooks } }),
    ...(computations && { computations: { ...DEFAULTS.computations, ...computations } }),
    ...(protocols && { protocols: withProtocolDefaults(protocols) }),
  };
}

/** Elsewhere null means absent; here it is more likely a value that somebody forgot to fill in. */
function nullSettings(file: JsonValue): Violation[] {
  return Object.entries(file ?? {})
    .filter(([, value]) => value === null)
    .map(([field]) => ({ field, description: 'must not be null' }));
}
