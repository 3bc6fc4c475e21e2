import type { ExchangeClient } from '@measurement-exchange/sdk';
import type { Command } from 'commander';
import { type CallOptions, group, remote, showList, showResource, WHOLE_LIST } from '../calls/command.ts';
import { findParty } from '../calls/party.ts';
import { connect } from '../connection/client.ts';
import { nameIn } from '../files/names.ts';

export function principalsCommand(): Command {
  return group('principals', 'which subject of which token issuer speaks for which party', [
    bind(),
    unbind(),
    list(),
  ]);
}

function bind(): Command {
  return remote('bind <resource>', 'let a subject speak for a party, or for `operator`')
    .requiredOption('--issuer <url>', 'the `iss` of its tokens, to the letter')
    .requiredOption('--subject <sub>', 'the `sub` of its tokens')
    .action(async (name: string, options: CallOptions & { issuer: string; subject: string }) => {
      const { issuer, subject } = options;
      const client = await connect(options);
      const resource = await principalOf(client, name);
      const binding = await client.createPrincipal({ body: { issuer, subject, resource } });
      showResource(
        options,
        binding,
        () => `${binding.name}: ${subject} of ${issuer} speaks for ${resource}.`,
      );
    });
}

async function principalOf(client: ExchangeClient, text: string): Promise<string> {
  return text === 'operator' ? text : findParty(client, text);
}

function unbind(): Command {
  return remote('unbind <principal>', 'take back a binding, by its name principals/…').action(
    async (name: string, options: CallOptions) => {
      const client = await connect(options);
      const binding = await client.deletePrincipal({ name: nameIn('principals', name) });
      showResource(
        options,
        binding,
        () =>
          `${binding.subject} of ${binding.issuer} no longer speaks for ${binding.resource}; every replica knows within 30 s.`,
      );
    },
  );
}

function list(): Command {
  return remote('list', 'list the bindings')
    .option('--resource <name>', 'only those of this party, or of `operator`')
    .action(async (options: CallOptions & { resource?: string }) => {
      const client = await connect(options);
      const resource = options.resource && (await principalOf(client, options.resource));
      const bindings = client.listPrincipals({ ...WHOLE_LIST, 'filter.resource': resource });
      await showList(options, 'principals', bindings, {
        headings: ['NAME', 'SPEAKS FOR', 'SUBJECT', 'ISSUER'],
        row: (b) => [b.name, b.resource, b.subject, b.issuer],
        none: 'No principal is bound: mex admin principals bind, or mex admin onboard.',
      });
    });
}
