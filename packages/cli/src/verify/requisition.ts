/** Verifies a requisition as its provider does before it fulfills it. */
import {
  equalBytes,
  MPC_NOISE_MECHANISMS,
  type Requisition,
  type ShareShuffleConfig,
} from '@measurement-exchange/contract';
import { decrypt, unpackSignedMessage } from '@measurement-exchange/sdk';
import { type Checklist, DoesNotHold } from './checklist.ts';
import { type Context, checkCertificate, checkSignature, checkSpec } from './steps.ts';

export async function verifyRequisition(list: Checklist, context: Context, name: string): Promise<void> {
  const requisition = await context.client.getRequisition({ name });
  const { measurement, measurementSpec, measurementConsumerCertificate } = requisition;
  const consumer = measurement?.split('/').slice(0, 2).join('/') ?? 'the consumer';
  list.about(`what ${consumer} asks`);
  const certificate = await checkCertificate(list, context, consumer, measurementConsumerCertificate);
  const spec = await checkSignature(list, 'the MeasurementSpec', measurementSpec, certificate);
  await checkSpec(list, spec?.message);
  const signed = await checkDecryption(list, context, requisition);
  await checkSignature(list, 'the RequisitionSpec', signed, certificate);
  const config = requisition.protocolConfig?.honestMajorityShareShuffle;
  if (config) await checkDuchies(list, context, requisition, config);
  if (config) list.about('all together');
  await checkRest(list, context, requisition, config);
}

/** The two workers, with the roots that the provider gave for them. */
async function checkDuchies(
  list: Checklist,
  context: Context,
  { duchies, fulfillingDuchy }: Requisition,
  { firstWorker, secondWorker }: ShareShuffleConfig,
): Promise<void> {
  for (const duchy of [firstWorker, secondWorker]) {
    const takes = duchy === fulfillingDuchy;
    list.about(`${duchy}, which ${takes ? 'takes your share' : 'gets the seed of the other share'}`);
    const entry = await list.check('it has said what a provider needs', () => {
      const found = duchies?.[duchy];
      if (found === undefined) throw new DoesNotHold('not yet: the requisition waits for its duchies');
      return { value: found };
    });
    const certificate = await checkCertificate(list, context, duchy, entry?.duchyCertificate);
    const publicKey = entry?.honestMajorityShareShuffle?.publicKey;
    if (!takes) await checkSignature(list, 'the key for the seed', publicKey, certificate);
  }
}

async function checkDecryption(list: Checklist, { credentials }: Context, requisition: Requisition) {
  const { dataProviderPublicKey, encryptedRequisitionSpec } = requisition;
  const ours = await list.checkWith('it is encrypted with your key', [dataProviderPublicKey], ({ data }) => {
    if (equalBytes(data, credentials.encryptionPublicKey)) return { value: true };
    throw new DoesNotHold(
      'dataProviderPublicKey is not the one you have now: was it made with an earlier one?',
    );
  });
  return list.checkWith(
    'the RequisitionSpec decrypts',
    [encryptedRequisitionSpec, ours],
    async ({ ciphertext }, _ours) => ({
      value: unpackSignedMessage(await decrypt(credentials.encryptionPrivateKey, ciphertext)),
      detail: `${ciphertext.length} bytes`,
    }),
  );
}

/** Nonce, result key, limits and event groups, as the agent of the provider judges them. */
async function checkRest(
  list: Checklist,
  { client, credentials, trust }: Context,
  requisition: Requisition,
  config: ShareShuffleConfig | undefined,
) {
  // Imported here, since it loads the query engine.
  const provider = await import('@measurement-exchange/sdk/provider');
  const computed = config ? 'duchies, ring, population, ' : '';
  await list.check(`${computed}nonce, result key, limits and event groups are in order`, async () => {
    const { selection } = await provider.verifyRequisition(requisition, {
      name: credentials.name,
      keys: [credentials],
      trust,
      fetchCertificate: (certificate) => client.getCertificate({ name: certificate }),
      fetchEventGroup: (eventGroup) => client.getEventGroup({ name: eventGroup }),
      references: 'unchecked',
      ...(config && {
        shareShuffle: {
          // The roots that were given decide which duchies are known.
          duchies: new Map(
            [config.firstWorker, config.secondWorker, config.aggregator].map((d) => [d, trust]),
          ),
          populations: 'unchecked',
          noiseMechanisms: MPC_NOISE_MECHANISMS,
          fetchPopulation: (name) => client.getPopulation({ name }),
        },
      }),
      now: new Date(),
    });
    return { value: selection, detail: words(selection) };
  });
}

interface Selected {
  events?: { reference: string; interval: { start: Date; end: Date }; filter?: string }[] | undefined;
  population?: { filter?: string } | undefined;
}

function words({ events, population }: Selected): string {
  const filtered = (filter: string | undefined) => (filter === undefined ? '' : ` where ${filter}`);
  if (events === undefined) return `the population${filtered(population?.filter)}`;
  const day = (date: Date) => date.toISOString().slice(0, 10);
  return events
    .map(
      ({ reference, interval, filter }) =>
        `${reference} from ${day(interval.start)} to ${day(interval.end)}${filtered(filter)}`,
    )
    .join('; ');
}
