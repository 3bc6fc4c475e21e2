import type { DataProvider, Duchy, MeasurementConsumer } from '@measurement-exchange/contract';
import type { PartyWithCertificate } from '../../database/parties.ts';
import { certificateName } from '../../domain/certificate.ts';
import { capabilitiesOf } from '../../domain/party.ts';

export type Party = MeasurementConsumer & DataProvider & Duchy;

export function viewParty(party: PartyWithCertificate): Party {
  // Show the certificate that other parties use to verify the public key's signature before they encrypt with the key.
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
    dataAvailabilityIntervals: party.modelLineAvailability,
    endpoint: party.endpoint,
    createTime: party.createTime,
    updateTime: party.updateTime,
  };
}
