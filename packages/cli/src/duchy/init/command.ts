/** `mex duchy init`: creates a folder with the keys and settings of a new duchy, and prints the next steps. */
import { Command } from 'commander';
import type { InitOptions } from './plan.ts';

export function duchyInitCommand(): Command {
  return new Command('init')
    .description('make a duchy in a new folder: keys, settings, database; and say what to do next')
    .argument('<duchy>', 'its name, as agreed with the operator of the exchange: duchies/…')
    .requiredOption('--out <dir>', 'a new folder for its files')
    .option('--display-name <text>', 'the name people know it by')
    .option('--url <url>', 'the exchange')
    .option('--endpoint <url>', 'the address at which providers and the other duchies reach it')
    .option(
      '--database-url <url>',
      'a PostgreSQL database of its own, made if missing (else embedded in the folder)',
    )
    .option('--dev', 'for the development exchange here: its demo parties and the duchy trust each other')
    .option('--json', 'print what was made as JSON')
    .addHelpText('after', HELP)
    .action(async (name: string, options: InitOptions) =>
      (await import('./make.ts')).makeDuchy(name, options),
    );
}

const HELP = `
The folder then holds
  duchy.json    the settings, for mex duchy run and mex duchy check
  keys/         the identity (mex identity): party.json goes to the operator of the exchange
  roots/        for the roots of the parties that it trusts: duchies/beta.pem, dataProviders/streamly.pem, …
  secrets.key   secret: seals what the database stores; keep a copy apart from the database
  token         secret: for the token with which it calls the exchange (with --dev it is there)

  mex duchy init duchies/alpha --out alpha --url https://exchange.example.com --endpoint https://alpha.example.com \\
      --database-url 'postgres://duchy:…@db.example.com/duchy?sslmode=verify-full'
  mex duchy init duchies/delta --out delta --dev`;
