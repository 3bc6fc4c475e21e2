/** Converts the `events` settings to the options of `openEvents`. */
import { readFile } from 'node:fs/promises';
import { type JsonObject, toPlainJson } from '@measurement-exchange/contract';
import type { EventsConfig } from '@measurement-exchange/sdk/provider';
import type { ProviderConfig } from './config.ts';
import type { EventSettings, RemoteSettings, SourceSettings } from './eventSettings.ts';

type Described = NonNullable<ProviderConfig['attributes']>;

/**
 * Reads the secrets and the certificate that the settings name, and gives each attribute its type from `described`. CSV
 * values are converted to these types, and values in other sources must already have them.
 */
export async function eventsConfig(
  { source, remote, ...events }: EventSettings,
  described: Described = {},
): Promise<EventsConfig> {
  const { columns } = events;
  const typed = columns?.attributes?.map((name) => [name, described[name]?.type?.toLowerCase()]);
  return {
    ...events,
    ...(typed && { columns: { ...columns, attributes: Object.fromEntries(typed) } }),
    ...(source && { source: await sourceConfig(source) }),
    ...(remote && { remote: await remoteConfig(remote) }),
  } as EventsConfig;
}

async function sourceConfig({ passwordFile, passwordVariable, caFile, absent, ...source }: SourceSettings) {
  const password = await secretOf('events.source.password', passwordFile, passwordVariable);
  const ca =
    caFile === undefined
      ? undefined
      : await readSetting(caFile, 'events.source.caFile', 'the certificate in PEM');
  return {
    ...source,
    ...(password && { password }),
    ...(ca !== undefined && { ca }),
    ...(absent && { absent: absentValues(absent) }),
  };
}

async function remoteConfig({ secretFile, secretVariable, ...remote }: RemoteSettings) {
  const secret = await secretOf('events.remote.secret', secretFile, secretVariable);
  return { ...remote, ...(secret && { secret }) };
}

function absentValues(absent: Record<string, unknown>): Record<string, string | number | boolean> {
  const values = toPlainJson(absent as JsonObject) as Record<string, unknown>;
  for (const [name, value] of Object.entries(values)) {
    if (['string', 'number', 'boolean'].includes(typeof value)) continue;
    throw new Error(`events.source.absent.${name} must be text, a number, true or false.`);
  }
  return values as Record<string, string | number | boolean>;
}

/**
 * Returns a function that reads a secret. Also reads the secret once immediately, so that a wrong setting is reported
 * before the agent connects to a server.
 */
async function secretOf(
  setting: string,
  file: string | undefined,
  variable: string | undefined,
): Promise<(() => Promise<string>) | undefined> {
  if (file === undefined && variable === undefined) return undefined;
  const read = async () => {
    if (file !== undefined) return (await readSetting(file, `${setting}File`, 'the secret')).trim();
    const secret = process.env[variable!];
    if (secret) return secret;
    // Do not quote the setting in the message, because the user may have put the secret itself into the setting by
    // mistake.
    throw new Error(
      `${setting}Variable names no variable of the environment: set the variable, or correct its name.`,
    );
  };
  await read();
  return read;
}

async function readSetting(file: string, setting: string, what: string): Promise<string> {
  const content = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${setting}: ${file} cannot be read (${error.code}): put ${what} there.`);
  });
  if (content.trim() !== '') return content;
  throw new Error(`${setting}: ${file} is empty: put ${what} there.`);
}
