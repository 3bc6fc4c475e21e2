/** Declares settings. `settingsOf` finds all settings with a given schema, such as all ports by the schema `Port`. */
import { number, object, type Static, type TSchema, text } from '@measurement-exchange/contract/schema';

export interface Setting<T> {
  schema: TSchema;
  initial: T;
  meaning: string;
  variable: string | undefined;
}

export function setting<S extends TSchema, T = Static<S>>(
  schema: S,
  initial: NoInfer<T>,
  meaning: string,
  variable?: string,
): Setting<T> {
  return { schema, initial, meaning, variable };
}

export function optionalSetting<S extends TSchema>(schema: S, meaning: string, variable?: string) {
  return setting<S, Static<S> | undefined>(schema, undefined, meaning, variable);
}

export const string = () => text(64 * 1024);

/** A port to listen on. */
export const Port = number();
/** An address to listen on. */
export const Host = string();
/** A certificate and its private key, as PEM files. */
export const TlsFiles = object({ certFile: string(), keyFile: string() });
