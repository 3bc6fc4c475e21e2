/**
 * Implements the PublicKeys service, which updates a party's public key. A party has only one public key, which is a
 * field of the party.
 */
import { create } from '@bufbuild/protobuf';
import type { ServiceImpl } from '@connectrpc/connect';
import { invalid, PATTERNS, parseName, REQUIRED, TYPE_URLS } from '@measurement-exchange/contract';
import { PublicKeySchema, type PublicKeys } from '@measurement-exchange/contract/rpc';
import { type Api, mismatch } from './api.ts';
import { nameAlgorithms } from './signatures.ts';
import { fromSigned, given, toSigned } from './values.ts';

export function publicKeys(api: Api): Partial<ServiceImpl<typeof PublicKeys>> {
  return {
    updatePublicKey: api.unary(async ({ publicKey }, call) => {
      const name = publicKey?.name ?? '';
      const key = fromSigned(publicKey?.publicKey);
      // Require a key, because the operation would change nothing without a key.
      if (key === undefined) throw invalid([{ field: 'publicKey.publicKey', description: REQUIRED }]);
      const body = { publicKey: key, publicKeyCertificate: given(publicKey?.certificate) };
      const updated = await call.run('updateParty', ownerIn(name), { body, within: 'publicKey' });
      const signed = toSigned(updated.publicKey, TYPE_URLS.EncryptionPublicKey);
      const { certificate } = updated;
      // Name the signature algorithm only if the party has a certificate, because the certificate's key determines the
      // algorithm.
      if (certificate !== undefined) await nameAlgorithms(call, [[signed, certificate]]);
      return create(PublicKeySchema, { name, publicKey: signed!, certificate });
    }),
  };
}

const SUFFIX = '/publicKey';

function ownerIn(name: string) {
  const party = name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : '';
  const ids = parseName('measurementConsumer', party) ?? parseName('dataProvider', party);
  if (ids !== undefined) return ids;
  const pattern = `${PATTERNS.measurementConsumer}${SUFFIX} or ${PATTERNS.dataProvider}${SUFFIX}`;
  throw mismatch(pattern, name, 'publicKey.name');
}
