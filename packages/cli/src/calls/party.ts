/** Finds the full name of a party, even if the user typed only the party's ID. */
import { ExchangeError, isId, PARTY_COLLECTIONS } from '@measurement-exchange/contract';
import type { ExchangeClient } from '@measurement-exchange/sdk';
import { partyName } from '../files/names.ts';

/** Returns the full name of a party. If `text` is only an ID, asks the exchange which kind of party has this ID. */
export async function findParty(client: ExchangeClient, text: string): Promise<string> {
  if (!isId(text)) return partyName(text).name;
  const names = PARTY_COLLECTIONS.map((collection) => `${collection}/${text}`);
  const visible = await Promise.all(names.map((name) => isVisible(client, name)));
  const found = names.filter((_, i) => visible[i]);
  if (found.length === 1) return found[0]!;
  throw new Error(
    found.length === 0
      ? `There is no party ${text} that you may see: mex admin parties list shows those there are.`
      : `${found.join(' and ')} have this ID: write the full name of one of them.`,
  );
}

async function isVisible(client: ExchangeClient, name: string): Promise<boolean> {
  try {
    await client.getParty({ name });
    return true;
  } catch (error) {
    const isHidden =
      error instanceof ExchangeError && ['NOT_FOUND', 'PERMISSION_DENIED'].includes(error.code);
    if (isHidden) return false;
    throw error;
  }
}
