/** Prints the next steps after `mex duchy init`. */
import { join } from 'node:path';
import { paint, print } from '../../terminal/output.ts';
import { commandLine, dataDirSetting, quoteWord } from '../../terminal/shell.ts';
import { FILES, type Plan } from './plan.ts';

interface Made {
  name: string;
  folder: string;
  fingerprint: string;
  endpoint: string;
}

export function printNext({ name, folder, fingerprint, endpoint }: Made, plan: Plan): void {
  const config = join(folder, FILES.settings);
  const { issuer = '<issuer of its tokens>', subject = '<subject of its tokens>' } = plan.principal ?? {};
  const onboard = commandLine(
    `admin onboard ${quoteWord(join(folder, FILES.identity, 'party.json'))} --trust-root`,
    {
      ...{ fingerprint, endpoint, issuer, subject },
    },
  );
  const steps = plan.exchange ? developmentSteps(name, folder) : productionSteps(name, folder, fingerprint);
  print(`${paint('green', `${name} is in ${folder}:`)} keys, settings, secrets key, roots.

  The operator of the exchange lets it in:
    ${onboard}
${steps}
  Then start it, and see whether anything is missing:
    ${commandLine('duchy run', { config })}
    ${commandLine('duchy check', { config })}`);
}

function developmentSteps(name: string, folder: string): string {
  const config = `MEX_CONFIG=${quoteWord(join(folder, FILES.exchange))}`;
  return `
  The exchange computes with it: stop the one that runs (Ctrl-C), and start it with this setting.
    ${[...dataDirSetting(), config, 'npm start'].join(' ')}

  The demo parties trust ${name} already, and it trusts them.`;
}

function productionSteps(name: string, folder: string, fingerprint: string): string {
  const at = (...path: string[]) => join(folder, ...path);
  return `
  Send ${at(FILES.identity, 'party.json')} there, and tell the fingerprint over another channel: ${fingerprint}.
  Its operator then names ${name} in the setting protocols.

  Give your root, ${at(FILES.identity, 'root.pem')}, to the other duchies, providers and consumers, and put
    theirs, which you got from them, in ${at(FILES.roots)}: duchies/beta.pem, dataProviders/streamly.pem, …
    the token for the exchange in ${at(FILES.token)} (mode 0600)
    the TLS certificate and key of the endpoint in ${at('tls.pem')} and ${at('tls.key')}, or change listen in ${FILES.settings}
  Keep a copy of ${at(FILES.secretsKey)} apart from the database.`;
}
