import { loadConfig } from '@measurement-exchange/exchange/config';
import { createDevIssuer, devKeyFile } from '@measurement-exchange/exchange/devIssuer';
import { Command, InvalidArgumentError } from 'commander';
import { findDevParty, readDevFile } from '../files/devFile.ts';
import { parsePartyName } from '../files/names.ts';
import { print } from '../terminal/output.ts';

/** A year. */
const MAX_HOURS = 24 * 366;

export function tokenCommand(): Command {
  return new Command('token')
    .description('print a fresh bearer token of the development issuer')
    .argument('<name>', 'a demo party such as acme, a full name such as dataProviders/…, or operator')
    .option('--hours <hours>', 'how long it is valid', parseHours, 12)
    .action(async (name: string, options: { hours: number }) => {
      const { dataDir } = loadConfig(process.env, { mode: 'development' });
      const dev = await readDevFile(dataDir);
      // A token for a full name is also for parties that were onboarded later, so it is not looked up.
      const subject =
        name === 'operator' ? name : (parsePartyName(name)?.name ?? findDevParty(dev, name).name);
      const issuer = await createDevIssuer({ keyFile: devKeyFile(dataDir), baseUrl: dev.baseUrl });
      print(await issuer.mint(subject, Math.round(options.hours * 3600)));
    });
}

function parseHours(text: string): number {
  const hours = Number(text);
  if (hours > 0 && hours <= MAX_HOURS) return hours;
  throw new InvalidArgumentError(`It must be a number of hours, ${MAX_HOURS} at most.`);
}
