/** Reads the fields that data providers and measurement consumers have in common. */
import { type DataProvider, type MeasurementConsumer, TYPE_URLS } from '@measurement-exchange/contract';
import type { Call } from './api.ts';
import { certificateIdsIn } from './names.ts';
import { algorithmOf } from './signatures.ts';
import { toSigned } from './values.ts';

type Party = DataProvider | MeasurementConsumer;
type PartyIds = { dataProvider: string } | { measurementConsumer: string };

export function getParty(call: Call, ids: PartyIds): Promise<Party> {
  return call.run('getParty', ids) as Promise<Party>;
}

/**
 * Returns the fields that both kinds of parties have. Includes `certificateDer`, because clients use it to verify the
 * public key and do not request the certificate separately.
 */
export async function toParty(call: Call, party: Party) {
  const { name, displayName, publicKey, certificate } = party;
  const der =
    certificate === undefined
      ? undefined
      : (await call.run('getCertificate', certificateIdsIn(certificate))).x509Der;
  const signed = toSigned(publicKey, TYPE_URLS.EncryptionPublicKey);
  if (signed !== undefined && der !== undefined) signed.signatureAlgorithmOid ||= algorithmOf(der);
  return {
    name,
    displayName,
    certificate,
    certificateDer: der,
    publicKey: signed,
  };
}
