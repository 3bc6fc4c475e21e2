import { ExchangeError } from '@measurement-exchange/sdk/client';

/** Returns the resource, or undefined if the exchange responds with NOT_FOUND. */
export async function ifFound<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof ExchangeError && error.code === 'NOT_FOUND') return undefined;
    throw error;
  }
}
