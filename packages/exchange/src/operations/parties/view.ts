import type { DataProvider, Duchy, MeasurementConsumer } from '@measurement-exchange/contract';
import type { PartyWithCertificate } from '../../database/parties.ts';
import { certificateName } from '../../domain/certificate.ts';
import { capabilitiesOf } from '../../domain/party.ts';

export type Party = MeasurementConsumer & DataProvider & Duchy;

export function viewParty(party: PartyWithCertificate): Party {
  // Parties that encrypt for the key use this certificate to verify the key's signature.
  const certificate = party.publicKeyCertificate ?? party.preferredCertificate;
  const isProvider = party.name.startsWith('dataProviders/');
  return {
    name: party.name,
    displayName: party.displayName,
    state: party.state,
    certificate: certificate && certificateName(party.name, certificate),
    publicKey: party.publicKey,
    capabilities: isProvider ? capabilitiesOf(party.protocols) : undefined,
    dataAvailabilityInterval: party.availability,
    endpoint: party.endpoint,
    createTime: party.createTime,
    updateTime: party.updateTime,
  };
}
