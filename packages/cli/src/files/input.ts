/** Reads files named on the command line. */
import { readFile } from 'node:fs/promises';
import { type JsonObject, type JsonValue, parseJson } from '@measurement-exchange/contract';

/** Reads a file, or standard input for `-`. `what` completes the error message "give …". */
export async function readBytes(file: string, what: string): Promise<Buffer> {
  return readFile(file === '-' ? '/dev/stdin' : file).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${file || 'An empty path'} cannot be read (${error.code}): give ${what}.`);
  });
}

/** Parses a JSON file. Keeps all digits of numbers, even if a JavaScript number would round them. */
export async function readJson(file: string, what: string): Promise<JsonValue> {
  const text = (await readBytes(file, what)).toString('utf8');
  try {
    return parseJson(text);
  } catch (error) {
    throw new Error(`${file} is not JSON (${(error as Error).message}): give ${what}.`);
  }
}

export async function readJsonObject(file: string, what: string): Promise<JsonObject> {
  const value = await readJson(file, what);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw new Error(`${file} is not a JSON object: give ${what}.`);
}
