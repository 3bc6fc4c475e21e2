import { parsePartyName } from '@measurement-exchange/contract';
import { Command, InvalidArgumentError } from 'commander';
import { mintDevToken } from '../connection/devToken.ts';
import { findDevParty, readOwnDevFile } from '../files/devFile.ts';
import { print } from '../terminal/output.ts';

const MAX_HOURS = 24 * 366;

export function tokenCommand(): Command {
  return new Command('token')
    .description('print a fresh bearer token of the development issuer')
    .argument('<party>', 'a demo party such as acme, a full name such as dataProviders/…, or operator')
    .option('--hours <hours>', 'how long it is valid', parseHours, 12)
    .action(async (name: string, options: { hours: number }) => {
      // Do not look up a full name in dev.json, because dev.json does not list every party that the operator has
      // onboarded.
      const subject =
        name === 'operator'
          ? name
          : (parsePartyName(name)?.name ?? findDevParty(await readOwnDevFile(), name).name);
      print(await mintDevToken(subject, options.hours));
    });
}

function parseHours(text: string): number {
  const hours = Number(text);
  if (hours > 0 && hours <= MAX_HOURS) return hours;
  throw new InvalidArgumentError(`It must be a number of hours, ${MAX_HOURS} at most.`);
}
