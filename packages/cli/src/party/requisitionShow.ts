/**
 * `mex requisitions show`: shows a requisition's state. With the provider's keys, it also decrypts and shows the
 * question.
 */
import { parseName, type Requisition } from '@measurement-exchange/contract';
import {
  ConsentError,
  type Credentials,
  decrypt,
  duchyProtocolOf,
  unpackSignedMessage,
} from '@measurement-exchange/sdk';
import type { Command } from 'commander';
import * as calls from '../calls/caller.ts';
import { type ActingOptions, actingAs, hasKeys, withKeys } from '../calls/keys.ts';
import { print, printFacts, printJson, visible } from '../terminal/output.ts';
import { timeFacts } from '../terminal/times.ts';
import { type AskedPart, partLines } from './questions.ts';
import { specFacts } from './spec.ts';

export function show(): Command {
  const command = calls.ownCommand<ActingOptions>(
    'show <requisition>',
    'what is asked, of whom, and the outcome; a provider with its keys: event groups, days and filters',
    'requisitions',
    async ({ client, name, principal }, options) => {
      const requisition = parseName('measurementRequisition', name)
        ? await client.getMeasurementRequisition({ name })
        : await client.getRequisition({ name });
      const isOwn =
        calls.isOf('dataProviders', principal) && requisition.encryptedRequisitionSpec !== undefined;
      const isKeyed = isOwn && (await hasKeys(options));
      const asked = isKeyed ? await readAsked(requisition, await actingAs(options)) : undefined;
      if (options.json) return printJson({ ...requisition, ...asked });
      describe(requisition, asked?.questionError);
      if (asked?.question === undefined) {
        if (isOwn && !isKeyed)
          print('\nThe question is encrypted for you: with --identity and --root, it is shown.');
        return;
      }
      print('\nIt asks for:');
      for (const line of await partLines(client, principal, asked.question)) print(`  ${line}`);
      const verify = calls.nextCommand(options, `verify measurement ${name}`, options);
      print(`\nWhether all of it is signed and in order: ${verify}`);
    },
  );
  return withKeys(command);
}

/** The provider's part of the question, or why it is unreadable. Omits the nonce, which is secret until fulfillment. */
export interface Asked {
  question?: AskedPart[];
  questionError?: { code: string; message: string };
}

export async function readAsked(
  { encryptedRequisitionSpec }: Requisition,
  { credentials }: { credentials: Credentials },
): Promise<Asked> {
  const { decodeRequisitionSpec } = await import('@measurement-exchange/sdk/provider');
  try {
    const plaintext = await decrypt(credentials.encryptionPrivateKey, encryptedRequisitionSpec!.ciphertext);
    const { events, population } = decodeRequisitionSpec(unpackSignedMessage(plaintext).message);
    return { question: events ?? [population ?? {}] };
  } catch (error) {
    const { message } = error as Error;
    return {
      questionError: { code: error instanceof ConsentError ? error.code : 'SPEC_MALFORMED', message },
    };
  }
}

function describe(r: Requisition, questionError: Asked['questionError']): void {
  printFacts(r.name!, {
    state: r.state,
    provider: r.dataProvider,
    measurement: r.measurement && `${r.measurement} (${r.measurementState})`,
    ...specFacts(r.measurementSpec?.message),
    question: questionError && visible(`cannot be read: ${questionError.message} (${questionError.code})`),
    ...duchyFacts(r),
    refusal: r.refusal && visible(`${r.refusal.justification}: ${r.refusal.message ?? ''}`),
    'fulfilled by': r.fulfillmentContext?.buildLabel && visible(r.fulfillmentContext.buildLabel),
    warnings: r.fulfillmentContext?.warnings && visible(r.fulfillmentContext.warnings.join('; ')),
    ...timeFacts(r),
  });
}

function duchyFacts(r: Requisition): Record<string, string | undefined> {
  const computed = duchyProtocolOf(r.protocolConfig);
  if (computed === undefined) return {};
  const { protocol, workers, aggregator } = computed;
  return {
    protocol,
    'computed by': `${workers.join(' and ')}, added up by ${aggregator}`,
    noise: `${computed.config.noiseMechanism}, by the duchies`,
    'counted in':
      computed.protocol === 'honestMajorityShareShuffle'
        ? computed.config.population
        : `a sketch of ${computed.config.maxSize.toLocaleString('en-US')} registers`,
    'share taken by': r.duchies ? r.fulfillingDuchy : 'nobody yet: the duchies are not ready',
  };
}
