/** `mex console`: runs the web console on this machine, with access to the party's keys. */
import { Command } from 'commander';
import { given } from '../calls/command.ts';
import { withKeys } from '../calls/keys.ts';
import { explained } from '../connection/client.ts';
import { openBrowser } from '../login/browser.ts';
import { parsePort } from '../terminal/numbers.ts';
import { note, paint, print } from '../terminal/output.ts';
import { StopSignal } from '../terminal/stopSignal.ts';
import type { IdentityOptions } from './identities.ts';

interface ConsoleCommandOptions extends IdentityOptions {
  port?: number;
  open: boolean;
  ledger?: string;
}

export function consoleCommand(): Command {
  const command = new Command('console')
    .description('open the web console on this machine, with your keys')
    .option('--url <url>', 'the exchange (else MEX_URL, the profile, or the development exchange here)')
    .option('--token <token>', 'who calls (better MEX_TOKEN, which others on this machine do not see)')
    .option('--as <party...>', 'in development: as these demo parties, or operator');
  return withKeys(command)
    .option('--port <port>', 'listen on this port (else any free one)', parsePort)
    .option(
      '--ledger <file>',
      "the ledger of a data provider's agent on this machine: shows its budget and its work",
    )
    .option('--no-open', 'print the link, and do not open a browser')
    .addHelpText('after', HELP)
    .action((options: ConsoleCommandOptions) =>
      run(options).catch((error: unknown) => {
        throw explained(error);
      }),
    );
}

const HELP = `
The page comes from this installation, and not from the exchange. Keys are read here and never leave this machine; the page
gets neither keys nor tokens. The link works once, in one browser: press Enter for another one. Ctrl-C ends the console.

  mex console                                      as the party of your profile
  mex console --identity keys/acme --root roots    as the party of this folder
  mex console --as acme --as streamly              in development: as these demo parties, side by side`;

async function run(options: ConsoleCommandOptions): Promise<void> {
  const { port, open, ledger, ...identityOptions } = options;
  // Import these modules only when this command runs, because the help and `mex completion` load this file, but do not
  // need these modules.
  const [{ findIdentities }, { loadConsole }, { startConsole }] = await Promise.all([
    import('./identities.ts'),
    import('./load.ts'),
    import('./server.ts'),
  ]);
  const identities = await findIdentities(identityOptions);
  const files = await loadConsole();
  const running = await startConsole({ identities, files, companion: given({ ledger }), ...given({ port }) });
  using stopped = new StopSignal();
  const link = running.newLink();
  print(`The console of ${identities.map(({ principal }) => principal).join(', ')}. This link works once:\n`);
  print(`  ${paint('green', link)}\n`);
  note('Press Enter for another link. Ctrl-C ends the console.');
  if (open) openBrowser(link);
  const offer = () => print(`  ${running.newLink()}\n`);
  if (process.stdin.isTTY) process.stdin.on('data', offer);
  await stopped.wait();
  process.stdin.off('data', offer).pause();
  await running.stop();
}
