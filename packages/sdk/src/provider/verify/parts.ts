/** The parts of a requisition that a provider verifies. */
import { parseName, type Requisition } from '@measurement-exchange/contract';
import { RefusalError } from '../../refusals/refusalError.ts';

/** The exchange sends these fields with every open requisition. */
const PARTS = [
  'name',
  'measurement',
  'measurementConsumerCertificate',
  'measurementSpec',
  'dataProvider',
  'dataProviderPublicKey',
  'encryptedRequisitionSpec',
  'nonceHash',
] as const;

type Relayed = { [P in (typeof PARTS)[number]]: NonNullable<Requisition[P]> };
export type Parts = Relayed & { measurementConsumer: string };

export function requireAddressedTo(provider: string, requisition: Requisition): Parts {
  const missing = PARTS.find((part) => requisition[part] === undefined);
  if (missing !== undefined) {
    throw new RefusalError('REQUISITION_INCOMPLETE', `The requisition has no ${missing}.`, { at: missing });
  }
  const parts = requisition as Relayed;
  if (parts.dataProvider !== provider) {
    const message = `The requisition is for ${parts.dataProvider}.`;
    throw new RefusalError('PROVIDER_MISMATCH', message, { at: 'dataProvider' });
  }
  const { measurementConsumer } = parseName('measurement', parts.measurement)!;
  return { ...parts, measurementConsumer: `measurementConsumers/${measurementConsumer}` };
}
