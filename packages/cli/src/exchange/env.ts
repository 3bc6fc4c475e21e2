import { Command } from 'commander';
import { readOwnDevFile } from '../files/devFile.ts';
import { print } from '../terminal/output.ts';

/**
 * Creates `mex env`, which prints shell variables for the demo parties. Run `eval "$(mex env)"` to try the API with
 * curl.
 */
export function envCommand(): Command {
  return new Command('env')
    .description('print shell variables for the demo parties: eval "$(mex env)"')
    .action(async () => {
      const { baseUrl, operator, measurementConsumers, dataProviders } = await readOwnDevFile();
      print(`MEX_URL='${baseUrl}'`);
      print(`OPERATOR_TOKEN='${operator.token}'`);
      for (const party of [...measurementConsumers, ...dataProviders]) {
        const variable = party.name.split('/')[1]!.toUpperCase().replaceAll('-', '_');
        print(`${variable}='${party.name}'`);
        print(`${variable}_TOKEN='${party.token}'`);
        print(`${variable}_CERTIFICATE='${party.certificate}'`);
        print(`${variable}_KEY='${party.encryptionPublicKey}'`);
      }
      // Define the shell function `field`, which prints one member of the JSON on standard input, as in
      // `… | field 'requisitions[0].etag'`.
      print(`field() { node -p "JSON.parse(require('fs').readFileSync(0, 'utf8')).$1"; }`);
    });
}
