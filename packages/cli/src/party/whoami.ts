import type { Command } from 'commander';
import { type CallOptions, remote, showResource } from '../calls/command.ts';
import { connect } from '../connection/client.ts';
import { printFacts, visible } from '../terminal/output.ts';

export function whoamiCommand(): Command {
  return remote('whoami', 'whom the token in use stands for').action(async (options: CallOptions) => {
    const client = await connect(options);
    showResource(options, await client.whoAmI(), ({ principal, issuer, subject }) =>
      printFacts(principal, { issuer: visible(issuer), subject: visible(subject) }),
    );
  });
}
