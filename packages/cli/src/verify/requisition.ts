/** Verifies a requisition as its provider does before it fulfills it. */
import {
  equalBytes,
  liquidLegionsOf,
  MPC_NOISE_MECHANISMS,
  type ProtocolConfig,
  type Requisition,
  ringOf,
  type SignedMessage,
} from '@measurement-exchange/contract';
import { decrypt, unpackSignedMessage } from '@measurement-exchange/sdk';
import type { ShareShuffleContext, VerifyContext } from '@measurement-exchange/sdk/provider';
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
  const duchies = duchiesOf(requisition);
  for (const duchy of duchies) await checkDuchy(list, context, requisition, duchy);
  if (duchies.length > 0) list.about('all together');
  await checkRest(list, context, requisition);
}

/** A duchy of the protocol that a provider hears of. */
interface InvolvedDuchy {
  duchy: string;
  /** What it does. */
  does: string;
  /** What the signed key is for; absent: it has none. */
  keyFor?: string;
  keyOf?: (entry: Entry) => SignedMessage | undefined;
}
type Entry = NonNullable<Requisition['duchies']>[string];

function duchiesOf({ protocolConfig = {}, fulfillingDuchy }: Requisition): InvolvedDuchy[] {
  const { honestMajorityShareShuffle: shuffle } = protocolConfig;
  const legions = liquidLegionsOf(protocolConfig);
  if (legions) {
    return ringOf(legions.config).map((duchy) => ({
      duchy,
      does: duchy === fulfillingDuchy ? 'takes your sketch' : 'takes its key off the registers',
      keyFor: 'the key for the registers',
      keyOf: (entry) => entry[legions.protocol]?.elGamalPublicKey,
    }));
  }
  return [shuffle?.firstWorker, shuffle?.secondWorker].flatMap((duchy): InvolvedDuchy[] => {
    if (duchy === undefined) return [];
    if (duchy === fulfillingDuchy) return [{ duchy, does: 'takes your share' }];
    return [
      {
        duchy,
        does: 'gets the seed of the other share',
        keyFor: 'the key for the seed',
        keyOf: (entry) => entry.honestMajorityShareShuffle?.publicKey,
      },
    ];
  });
}

/** With the root that the provider gave for it. */
async function checkDuchy(
  list: Checklist,
  context: Context,
  { duchies }: Requisition,
  { duchy, does, keyFor, keyOf }: InvolvedDuchy,
): Promise<void> {
  list.about(`${duchy}, which ${does}`);
  const entry = await list.check('it has said what a provider needs', () => {
    const found = duchies?.[duchy];
    if (found === undefined) throw new DoesNotHold('not yet: the requisition waits for its duchies');
    return { value: found };
  });
  const certificate = await checkCertificate(list, context, duchy, entry?.duchyCertificate);
  if (keyFor && keyOf) await checkSignature(list, keyFor, entry && keyOf(entry), certificate);
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
async function checkRest(list: Checklist, { client, credentials, trust }: Context, requisition: Requisition) {
  // Imported here, since it loads the query engine.
  const provider = await import('@measurement-exchange/sdk/provider');
  const { protocolConfig = {} } = requisition;
  const computed = protocolConfig.direct ? '' : 'duchies, parameters of the protocol, ';
  await list.check(`${computed}nonce, result key, limits and event groups are in order`, async () => {
    const { selection } = await provider.verifyRequisition(requisition, {
      name: credentials.name,
      keys: [credentials],
      trust,
      fetchCertificate: (certificate) => client.getCertificate({ name: certificate }),
      fetchEventGroup: (eventGroup) => client.getEventGroup({ name: eventGroup }),
      references: 'unchecked',
      ...accepting(protocolConfig, {
        trust,
        fetchPopulation: (population) => client.getPopulation({ name: population }),
      }),
      now: new Date(),
    });
    return { value: selection, detail: words(selection) };
  });
}

/** Whatever the protocol is: the roots that were given decide which duchies are known. */
function accepting(
  protocolConfig: ProtocolConfig,
  { trust, fetchPopulation }: Pick<Context, 'trust'> & Pick<ShareShuffleContext, 'fetchPopulation'>,
): Pick<VerifyContext, 'shareShuffle' | 'liquidLegions'> {
  const { honestMajorityShareShuffle: shuffle } = protocolConfig;
  const legions = liquidLegionsOf(protocolConfig);
  const known = (duchies: string[]) => ({
    duchies: new Map(duchies.map((duchy) => [duchy, trust])),
    noiseMechanisms: MPC_NOISE_MECHANISMS,
  });
  return {
    ...(shuffle && {
      shareShuffle: {
        ...known([shuffle.firstWorker, shuffle.secondWorker, shuffle.aggregator]),
        populations: 'unchecked' as const,
        fetchPopulation,
      },
    }),
    ...(legions && { liquidLegions: known(ringOf(legions.config)) }),
  };
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
