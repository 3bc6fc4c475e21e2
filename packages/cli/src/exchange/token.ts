import { loadConfig } from '@measurement-exchange/exchange/config';
import { createDevIssuer, devKeyFile } from '@measurement-exchange/exchange/devIssuer';
import { Command } from 'commander';
import { readDevFile } from '../files/devFile.ts';
import { print } from '../terminal/output.ts';

export function tokenCommand(): Command {
  return new Command('token')
    .description('print a fresh bearer token of the development issuer')
    .argument('<name>', 'measurementConsumers/…, dataProviders/…, duchies/… or operator')
    .option('--hours <hours>', 'how long it is valid', Number, 12)
    .action(async (name: string, options: { hours: number }) => {
      const { dataDir } = loadConfig(process.env, { mode: 'development' });
      const { baseUrl } = await readDevFile(dataDir);
      const issuer = await createDevIssuer({ keyFile: devKeyFile(dataDir), baseUrl });
      print(await issuer.mint(name, Math.round(options.hours * 3600)));
    });
}
