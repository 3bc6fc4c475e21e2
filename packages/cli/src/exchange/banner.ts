/** The text that `mex serve --dev` prints when the exchange is ready. */
import type { Running } from '@measurement-exchange/exchange';
import { type Config, loadConfig } from '@measurement-exchange/exchange/config';
import { CAMPAIGN } from '../publishers/audience.ts';
import { paint } from '../terminal/output.ts';
import { quoteWord } from '../terminal/shell.ts';

type Development = NonNullable<Running['development']>;

export function banner(config: Config, url: string, development: Development, isConsoleOn: boolean): string {
  const { dataDir, databaseUrl } = config;
  const { duchies } = development.parties;
  return `
${paint('yellow', '  DEVELOPMENT MODE: demo parties, a built-in token issuer, loopback only. Not for real data.')}

  ${paint('bold', 'Measurement Exchange')} is listening on ${paint('green', url)}

  Console         ${isConsoleOn ? `${url}/   (see, ask and answer in a browser)` : 'off'}
  API reference   ${url}/docs
  Demo parties    ${dataDir}/dev.json   (names, tokens, keys)
  Database        ${databaseUrl === undefined ? `${dataDir}/pg   (embedded PostgreSQL)` : 'DATABASE_URL'}
  Duchies         ${listed(
    duchies.map(({ name }) => name),
    `${dataDir}/duchies; MEX_DUCHIES=off leaves them out`,
  )}
  Publishers      ${listed(development.publishers, `${dataDir}/publishers; MEX_AGENTS=off leaves them out`)}

  Try this in another terminal, in the same folder:
${suggestions(config, url, development)
  .map((line) => `    ${line}\n`)
  .join('')}
  Next: docs/quickstart/ and docs/tour.md. Ctrl-C stops all of it.
`;
}

function listed(names: string[], about: string): string {
  return names.length === 0 ? 'none' : `${names.map(idOf).join(', ')}   (${about})`;
}

function suggestions(config: Config, url: string, { parties, publishers }: Development): string[] {
  const { dataDir } = config;
  const elsewhere = dataDir === loadConfig({}).dataDir ? '' : `MEX_DATA_DIR=${quoteWord(dataDir)} `;
  const mex = `${elsewhere}npm run -s mex --`;
  const consumer = parties.measurementConsumers[0]!.name;
  if (publishers.length === 0) {
    return [
      `TOKEN=$(${mex} token ${consumer})`,
      `curl -s -H "Authorization: Bearer $TOKEN" ${url}/v2alpha/whoami`,
    ];
  }
  // Suggest only one publisher if no duchies run, because only duchies can count people across publishers.
  const asked = parties.duchies.length === 0 ? publishers.slice(0, 1) : publishers;
  const providers = asked.map((name) => `--provider ${idOf(name)}`).join(' ');
  const [from, to] = [CAMPAIGN.start, CAMPAIGN.end].map((time) => time.slice(0, 10));
  return [
    `${mex} measure reach --as ${idOf(consumer)} ${providers} --from ${from} --to ${to}`,
    ...(parties.duchies.length > 0 ? [`${mex} report run --as ${idOf(consumer)}`] : []),
    `${mex} measurements list --as ${idOf(consumer)}`,
  ];
}

function idOf(name: string): string {
  return name.split('/')[1]!;
}
