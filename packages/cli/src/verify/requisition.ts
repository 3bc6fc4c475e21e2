/** Verifies a requisition as its provider does before it fulfills it. */
import { equalBytes, type Requisition } from '@measurement-exchange/contract';
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
  await checkRest(list, context, requisition);
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
  await list.check('nonce, result key, limits and event groups are in order', async () => {
    const { selection } = await provider.verifyRequisition(requisition, {
      name: credentials.name,
      keys: [credentials],
      trust,
      fetchCertificate: (certificate) => client.getCertificate({ name: certificate }),
      fetchEventGroup: (eventGroup) => client.getEventGroup({ name: eventGroup }),
      references: 'unchecked',
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
