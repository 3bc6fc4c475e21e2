/** Parties as resources of the API. */
import type { DataProvider, Duchy, MeasurementConsumer } from '@measurement-exchange/contract';
import type { PartyWithCertificate } from '../../database/parties.ts';
import { capabilitiesOf } from '../../domain/party.ts';
import { certificateName } from '../certificates/view.ts';

export type Party = MeasurementConsumer & DataProvider & Duchy;

export function viewParty(party: PartyWithCertificate): Party {
  const isProvider = party.name.startsWith('dataProviders/');
  return {
    name: party.name,
    displayName: party.displayName,
    state: party.state,
    certificate: party.certificate && certificateName(party.name, party.certificate),
    publicKey: party.publicKey,
    capabilities: isProvider ? capabilitiesOf(party.protocols) : undefined,
    dataAvailabilityInterval: party.availability,
    createTime: party.createTime,
    updateTime: party.updateTime,
  };
}
