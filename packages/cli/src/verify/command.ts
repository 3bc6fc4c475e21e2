/** `mex verify`: checks the signatures, certificates, hashes and keys of a measurement or a file. */
import { parseName } from '@measurement-exchange/contract';
import { verifyMeasurement } from '@measurement-exchange/sdk';
import { Command } from 'commander';
import { nameBelow } from '../calls/caller.ts';
import { group, remote } from '../calls/command.ts';
import { type ActingOptions, actingAs, withKeys } from '../calls/keys.ts';
import { verifyFile } from './file.ts';
import { printVerdict, stepPrinter } from './steps.ts';

export function verifyCommand(): Command {
  return group('verify', 'check signatures, certificates, hashes and keys, step by step', [
    measurement(),
    file(),
  ]);
}

const EXIT_CODES =
  'Exits with 0 when every step passes, with 2 when one fails, with 1 when a check was not possible.';

function measurement(): Command {
  return withKeys(
    remote('measurement <name>', 'a measurement of yours; as a provider, a requisition for you'),
  )
    .addHelpText(
      'after',
      `
  mex verify measurement measurementConsumers/acme/measurements/x --as acme
  mex verify measurement dataProviders/streamly/requisitions/y --as streamly

${EXIT_CODES}`,
    )
    .action(async (text: string, options: ActingOptions) => {
      const context = await actingAs(options);
      const { name: us } = context.credentials;
      const isProvider = us.startsWith('dataProviders/');
      const name = nameBelow(us, isProvider ? 'requisitions' : 'measurements', text);
      const expected = isProvider ? 'requisition' : 'measurement';
      if (parseName(expected, name) === undefined || !name.startsWith(`${us}/`)) {
        throw new Error(`${name} is no ${expected} of ${us}: it looks like ${us}/${expected}s/<id>.`);
      }
      const onStep = stepPrinter(options);
      const steps = isProvider
        ? await (await import('@measurement-exchange/sdk/provider')).verifyRequisitionSteps(
            context,
            await context.client.getRequisition({ name }),
            onStep,
          )
        : await verifyMeasurement(context, await context.client.getMeasurement({ name }), onStep);
      printVerdict(name, steps, options);
    });
}

function file(): Command {
  return new Command('file')
    .description('a SignedMessage in a file: {message, signature, signatureAlgorithm} as JSON, or protobuf')
    .argument('<file>')
    .requiredOption('--certificate <file>', 'whose signature it should be, in PEM or DER')
    .option('--root <file...>', 'the roots that the certificate must come from, in PEM')
    .option('--json', 'print the steps as JSON')
    .addHelpText('after', `\n${EXIT_CODES}`)
    .action(async (path: string, options: { certificate: string; root?: string[]; json?: boolean }) => {
      printVerdict(path, await verifyFile(path, options, stepPrinter(options)), options);
    });
}
