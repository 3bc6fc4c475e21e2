import { PARTY_COLLECTIONS, type PartyCollection } from '@measurement-exchange/contract';
import type { ResponseOf } from '@measurement-exchange/sdk';
import { signedKey } from '@measurement-exchange/sdk/onboarding';
import { type Command, Option } from 'commander';
import { type CallOptions, given, group, remote, showResource, WHOLE_LIST } from '../calls/command.ts';
import { findParty } from '../calls/party.ts';
import { connect } from '../connection/client.ts';
import { partyName } from '../files/names.ts';
import { readPartyFile } from '../files/partyFile.ts';
import { print, printFacts, printJson, printTable, visible } from '../terminal/output.ts';
import { parseTime } from '../terminal/times.ts';

type Party = ResponseOf<'getParty'>;

export function partiesCommand(): Command {
  return group('parties', 'the consumers, providers and duchies of the exchange', [
    create(),
    list(),
    get(),
    update(),
    administer(
      'suspend',
      'refuse its tokens and give it no new requisitions; its open work stays',
      'suspended',
    ),
    administer('resume', 'let a suspended party in again', 'active again'),
  ]);
}

export const ENDPOINT = [
  '--endpoint <url>',
  'a duchy: where data providers and other duchies reach it, https://duchy.example.com',
] as const;

function create(): Command {
  return remote('create <party>', 'make a party with this name (mex admin onboard does this and the rest)')
    .option('--display-name <text>', 'the name people know it by')
    .option(...ENDPOINT)
    .action(async (name: string, options: CallOptions & { displayName?: string; endpoint?: string }) => {
      const { displayName, endpoint } = options;
      const { collection, id, idParameter } = partyName(name);
      const client = await connect(options);
      const body = given({ displayName, endpoint });
      const party = await client.createParty({ collection, [idParameter]: id, body });
      showResource(
        options,
        party,
        () => `${party.name} is there. It can call once a subject is bound to it: mex admin principals bind`,
      );
    });
}

function list(): Command {
  return remote('list', 'list the parties')
    .addOption(new Option('--kind <collection>', 'only these').choices(PARTY_COLLECTIONS))
    .action(async (options: CallOptions & { kind?: PartyCollection }) => {
      const client = await connect(options);
      const parties: Party[] = [];
      for (const kind of options.kind ? [options.kind] : PARTY_COLLECTIONS) {
        parties.push(...(await Array.fromAsync(client.listParties({ collection: kind, ...WHOLE_LIST }))));
      }
      if (options.json) return printJson({ parties });
      if (parties.length === 0) return print('There are no parties yet: mex admin onboard makes one.');
      printTable(
        ['NAME', 'DISPLAY NAME', 'STATE', 'CERTIFICATE', 'PUBLIC KEY'],
        parties.map((p) => [
          p.name,
          p.displayName,
          p.state,
          p.certificate?.split('/').at(-1) ?? 'none',
          p.publicKey ? 'set' : 'none',
        ]),
      );
    });
}

function get(): Command {
  return remote('get <party>', 'show one party').action(async (name: string, options: CallOptions) => {
    const client = await connect(options);
    const party = await client.getParty({ name: await findParty(client, name) });
    showResource(options, party, describe);
  });
}

interface UpdateOptions extends CallOptions {
  displayName?: string;
  endpoint?: string;
  publicKey?: string;
  availableFrom?: string;
  availableUntil?: string;
}

function update(): Command {
  return remote(
    'update <party>',
    'change a party; fields without an option stay (also with the token of the party itself)',
  )
    .option('--display-name <text>', 'the name people know it by')
    .option('--public-key <party.json>', 'the signed encryption key in this file of mex identity')
    .option('--available-from <time>', 'a data provider: since when it has data', parseTime)
    .option('--available-until <time>', 'with --available-from: until when (else: open)', parseTime)
    .option(...ENDPOINT)
    .action(async (text: string, options: UpdateOptions) => {
      const { availableFrom: startTime, availableUntil: endTime } = options;
      if (endTime !== undefined && startTime === undefined)
        throw new Error('--available-until needs --available-from.');
      const file = options.publicKey === undefined ? undefined : await readPartyFile(options.publicKey);
      const changes = given({
        displayName: options.displayName,
        endpoint: options.endpoint,
        publicKey: file && signedKey(file),
        dataAvailabilityInterval: startTime && { startTime, ...given({ endTime }) },
      });
      if (Object.keys(changes).length === 0) {
        throw new Error(
          'Nothing to change: give --display-name, --public-key, --available-from or --endpoint.',
        );
      }
      const client = await connect(options);
      const name = await findParty(client, text);
      if (options.endpoint !== undefined && !name.startsWith('duchies/'))
        throw new Error(`--endpoint is for duchies: ${name} has none.`);
      if (file !== undefined && file.name !== name) {
        throw new Error(`${options.publicKey} is of ${file.name}, not of ${name}.`);
      }
      showResource(options, await client.updateParty({ name, body: changes }), describe);
    });
}

function administer(verb: 'suspend' | 'resume', description: string, now: string): Command {
  return remote(`${verb} <party>`, description).action(async (text: string, options: CallOptions) => {
    const client = await connect(options);
    const name = await findParty(client, text);
    const party = await client[`${verb}Party`]({ name });
    showResource(options, party, () => `${name} is ${now}; every replica knows within 30 s.`);
  });
}

function describe(party: Party): void {
  const endpoint = 'endpoint' in party ? party.endpoint : undefined;
  printFacts(party.name!, {
    'display name': visible(party.displayName ?? ''),
    state: party.state,
    certificate: party.certificate ?? 'none: mex admin certificates add',
    'public key': party.publicKey ? 'set' : 'none: mex admin parties update --public-key',
    endpoint: party.name!.startsWith('duchies/')
      ? (endpoint ?? 'none: mex admin parties update --endpoint')
      : undefined,
    created: party.createTime,
    updated: party.updateTime,
  });
}
