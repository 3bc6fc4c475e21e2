import { resolve } from 'node:path';
import { createIdentity } from '@measurement-exchange/sdk/identity';
import { partyName } from '../../files/names.ts';
import { fingerprintOf } from '../../files/partyFile.ts';
import { requireEmpty } from '../../identity/folder.ts';
import { printJson } from '../../terminal/output.ts';
import { createDatabaseOf } from './database.ts';
import { developmentPlan } from './development.ts';
import { writeDuchy } from './files.ts';
import { printNext } from './next.ts';
import { type InitOptions, productionPlan } from './plan.ts';

const DAYS = 365;

/** Creates a new duchy. Throws and creates nothing if an option is wrong or the database cannot be used. */
export async function makeDuchy(name: string, options: InitOptions): Promise<void> {
  const party = partyName(name);
  if (party.collection !== 'duchies')
    throw new Error(`${name} is not the name of a duchy: write duchies/<id>.`);
  const folder = resolve(options.out);
  await requireEmpty(folder);
  const plan = options.dev ? await developmentPlan(name, options) : productionPlan(options);
  if (options.databaseUrl !== undefined) await createDatabaseOf(options.databaseUrl);
  const { displayName = '' } = options;
  const identity = await createIdentity({
    party: name,
    commonName: displayName || name,
    now: Date.now(),
    days: DAYS,
  });
  const { certificatePem } = await writeDuchy(folder, { name, displayName, ...identity }, plan);
  await plan.introduce?.(identity.root.certificatePem);
  const made = { name, folder, fingerprint: fingerprintOf(certificatePem), endpoint: plan.settings.endpoint };
  if (options.json) printJson(made);
  else printNext(made, plan);
}
