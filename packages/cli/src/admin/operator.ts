import { loadConfig } from '@measurement-exchange/exchange/config';
import { bindOperator } from '@measurement-exchange/exchange/maintenance';
import { Command } from 'commander';
import { print, printJson } from '../terminal/output.ts';

/**
 * Creates `mex admin operator`, which registers the first operator directly in the database. The issuer and subject of
 * an operator's tokens identify the operator. Over the API, only an existing operator can register another one.
 */
export function operatorCommand(): Command {
  return new Command('operator')
    .description('bind the first operator, straight in the database, as its owner')
    .argument('<issuer>', 'the `iss` of its tokens, exactly')
    .argument('<subject>', 'the `sub` of its tokens')
    .option('--json', 'print the binding as JSON')
    .addHelpText(
      'after',
      `
Needs the database, not a token: the settings of the exchange (MEX_CONFIG), and DATABASE_OWNER_URL unless the database
is the embedded one; whether or not the exchange runs. It is written to the audit log. Further operators need no
database: mex admin principals bind operator

  export MEX_CONFIG=/etc/mex/config.json
  DATABASE_OWNER_URL=postgres://… mex admin operator https://id.example.com alice`,
    )
    .action(async (issuer: string, subject: string, options: { json?: boolean }) => {
      const { name, created } = await bindOperator(loadConfig(process.env), { issuer, subject });
      if (options.json) printJson({ name, issuer, subject, resource: 'operator', created });
      else if (!created) print(`${subject} of ${issuer} is an operator already (${name}).`);
      else
        print(`${subject} of ${issuer} is an operator now (${name}); a running exchange knows within 30 s.`);
    });
}
