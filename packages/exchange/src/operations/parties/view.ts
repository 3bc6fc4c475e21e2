/** Parties as resources of the API. */
import type { DataProvider, Duchy, MeasurementConsumer } from '@measurement-exchange/contract';
import type { PartyWithCertificate } from '../../database/parties.ts';
import { capabilitiesOf } from '../../domain/party.ts';
import { certificateName } from '../certificates/view.ts';

export type Party = MeasurementConsumer & DataProvider & Duchy;

export function viewParty(party: PartyWithCertificate): Party {
  // The certificate that signed the party's key: a party that encrypts for the key verifies it with this certificate.
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
