import type { TrustStore } from '@measurement-exchange/consent';
import {
  equalBytes,
  liquidLegionsOf,
  MPC_NOISE_MECHANISMS,
  type Requisition,
  ringOf,
  type SignedMessage,
} from '@measurement-exchange/contract';
import { partyOf } from '../client/names.ts';
import { Checklist, DoesNotHold, type VerificationStep } from '../verification/checklist.ts';
import {
  checkCertificate,
  checkSignature,
  checkSpec,
  day,
  decrypted,
  type Verifier,
} from '../verification/checks.ts';
import type { Selection } from './verify/selection.ts';
import { type VerifyContext, verifyRequisition } from './verify.ts';

/**
 * Verifies a requisition step by step, and calls `onStep` after each step. The first steps check certificates,
 * signatures, and keys. The last step runs `verifyRequisition`. Unlike the agent, this function does not check whether
 * the provider's settings allow the consumer to ask about the event groups. Also unlike the agent, it accepts every
 * duchy that has a trusted root.
 */
export async function verifyRequisitionSteps(
  verifier: Verifier,
  requisition: Requisition,
  onStep?: (step: VerificationStep) => void,
): Promise<VerificationStep[]> {
  const list = new Checklist(onStep);
  const { measurement, measurementSpec, measurementConsumerCertificate } = requisition;
  const consumer = measurement === undefined ? 'the consumer' : partyOf(measurement);
  list.about(`what ${consumer} asks`);
  const certificate = await checkCertificate(list, verifier, consumer, measurementConsumerCertificate);
  const spec = await checkSignature(list, 'the MeasurementSpec', measurementSpec, certificate);
  await checkSpec(list, spec?.message);
  const signed = await checkDecryption(list, verifier, requisition);
  await checkSignature(list, 'the RequisitionSpec', signed, certificate);
  const duchies = duchiesOf(requisition);
  for (const duchy of duchies) await checkDuchy(list, verifier, requisition, duchy);
  if (duchies.length > 0) list.about('all together');
  await checkRest(list, verifier, requisition);
  return list.steps;
}

interface InvolvedDuchy {
  duchy: string;
  /** The duchy's role as a verb phrase, such as "takes your share". */
  does: string;
  /** A name for the duchy's signed key, such as "the key for the seed". Absent if `checkDuchy` checks no key. */
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
  return (shuffle ? [shuffle.firstWorker, shuffle.secondWorker] : []).map((duchy) => {
    if (duchy === fulfillingDuchy) return { duchy, does: 'takes your share' };
    return {
      duchy,
      does: 'gets the seed of the other share',
      keyFor: 'the key for the seed',
      keyOf: (entry) => entry.honestMajorityShareShuffle?.publicKey,
    };
  });
}

async function checkDuchy(
  list: Checklist,
  verifier: Verifier,
  { duchies }: Requisition,
  { duchy, does, keyFor, keyOf }: InvolvedDuchy,
): Promise<void> {
  list.about(`${duchy}, which ${does}`);
  const entry = await list.check('it has said what a provider needs', () => {
    const found = duchies?.[duchy];
    if (found === undefined) throw new DoesNotHold('not yet: the requisition waits for its duchies');
    return { value: found };
  });
  const certificate = await checkCertificate(list, verifier, duchy, entry?.duchyCertificate);
  if (keyFor && keyOf) await checkSignature(list, keyFor, entry && keyOf(entry), certificate);
}

async function checkDecryption(list: Checklist, { credentials }: Verifier, requisition: Requisition) {
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
    (encrypted, _ours) => decrypted(encrypted, credentials.encryptionPrivateKey),
  );
}

async function checkRest(list: Checklist, verifier: Verifier, requisition: Requisition): Promise<void> {
  const { client, credentials, trust } = verifier;
  const computed = requisition.protocolConfig?.direct ? '' : 'duchies, parameters of the protocol, ';
  await list.check(`${computed}nonce, result key, limits and event groups are in order`, async () => {
    const { selection } = await verifyRequisition(requisition, {
      name: credentials.name,
      keys: [credentials],
      trust,
      fetchCertificate: (certificate) => client.getCertificate({ name: certificate }),
      fetchEventGroup: (eventGroup) => client.getEventGroup({ name: eventGroup }),
      references: 'unchecked',
      ...accepting(verifier, requisition),
      now: new Date(),
    });
    return { value: selection, detail: inWords(selection) };
  });
}

/**
 * Returns protocol settings for `verifyRequisition` that accept every protocol, and every duchy with a trusted root.
 */
function accepting(
  { client, trust }: Verifier,
  { protocolConfig = {} }: Requisition,
): Pick<VerifyContext, 'shareShuffle' | 'liquidLegions'> {
  const { honestMajorityShareShuffle: shuffle } = protocolConfig;
  const legions = liquidLegionsOf(protocolConfig);
  const known = (duchies: string[]) => ({
    duchies: new Map<string, TrustStore>(duchies.map((duchy) => [duchy, trust])),
    noiseMechanisms: MPC_NOISE_MECHANISMS,
  });
  return {
    ...(shuffle && {
      shareShuffle: {
        ...known([shuffle.firstWorker, shuffle.secondWorker, shuffle.aggregator]),
        populations: 'unchecked' as const,
        fetchPopulation: (population) => client.getPopulation({ name: population }),
      },
    }),
    ...(legions && { liquidLegions: known(ringOf(legions.config)) }),
  };
}

function inWords({ events, population }: Selection): string {
  const filtered = (filter: string | undefined) => (filter === undefined ? '' : ` where ${filter}`);
  if (events === undefined) return `the population${filtered(population?.filter)}`;
  return events
    .map(
      ({ reference, interval, filter }) =>
        `${reference} from ${day(interval.start)} to ${day(interval.end)}${filtered(filter)}`,
    )
    .join('; ');
}
