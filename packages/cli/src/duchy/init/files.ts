/** Writes the folder of a new duchy. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PARTY_COLLECTIONS } from '@measurement-exchange/contract';
import type { PartyFile } from '@measurement-exchange/sdk/onboarding';
import { writeIdentity } from '../../identity/folder.ts';
import { loadDuchy } from '../settings.ts';
import { FILES, type Plan } from './plan.ts';

/** Writes the folder so that only its owner can read it, because it contains secrets. */
export async function writeDuchy(
  folder: string,
  identity: Parameters<typeof writeIdentity>[1],
  { settings, token, roots, exchange }: Plan,
): Promise<PartyFile> {
  const write = (file: string, text: string) =>
    writeFile(join(folder, file), `${text.trimEnd()}\n`, { mode: 0o600, flag: 'wx', flush: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const party = await writeIdentity(join(folder, FILES.identity), identity);
  for (const collection of PARTY_COLLECTIONS)
    await mkdir(join(folder, FILES.roots, collection), { recursive: true });
  for (const [name, pem] of Object.entries(roots)) await write(join(FILES.roots, `${name}.pem`), pem);
  await (await loadDuchy()).makeSecretsKey(join(folder, FILES.secretsKey));
  if (token !== undefined) await write(FILES.token, token);
  if (exchange !== undefined) await write(FILES.exchange, JSON.stringify(exchange, null, 2));
  await write(FILES.settings, JSON.stringify(settings, null, 2));
  return party;
}
