import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createDevIssuer, devKeyFile, loadConfig } from '@measurement-exchange/exchange';
import { Command } from 'commander';
import { print } from '../output.ts';

export function tokenCommand(): Command {
  return new Command('token')
    .description('print a fresh bearer token of the development issuer')
    .argument('<name>', 'measurementConsumers/…, dataProviders/…, duchies/… or operator')
    .option('--hours <hours>', 'how long it is valid', Number, 12)
    .action(async (name: string, options: { hours: number }) => {
      const { dataDir } = loadConfig(process.env, { mode: 'development' });
      const issuer = await createDevIssuer({ keyFile: devKeyFile(dataDir), baseUrl: await baseUrl(dataDir) });
      print(await issuer.mint(name, Math.round(options.hours * 3600)));
    });
}

async function baseUrl(dataDir: string): Promise<string> {
  try {
    return JSON.parse(await readFile(join(dataDir, 'dev.json'), 'utf8')).baseUrl;
  } catch {
    throw new Error(
      `${dataDir}/dev.json is not there. Start the exchange first (npm start), or set MEX_DATA_DIR to its data directory.`,
    );
  }
}
