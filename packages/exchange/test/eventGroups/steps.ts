/** Test helpers that create, change, and read event groups. */
import { TYPE_URLS } from '@measurement-exchange/contract';
import type { DevParty, Reply, TestExchange } from '@measurement-exchange/testkit/exchange';
import { typeUrl } from '@measurement-exchange/testkit/metadataSets';
import { castOf, ok, post } from '@measurement-exchange/testkit/steps';

export const INVALID = '400 INVALID_ARGUMENT INVALID_FIELD_VALUE';
export const MISSING = '400 INVALID_ARGUMENT REQUIRED_FIELD_NOT_SET';
export const DENIED = '403 PERMISSION_DENIED PERMISSION_DENIED';
export const NOT_FOUND = '404 NOT_FOUND EVENT_GROUP_NOT_FOUND';

export const collection = (party: DevParty) => `${party.name}/eventGroups`;
export const idOf = ({ name }: { name: string }) => name.split('/').at(-1)!;

/** Encrypted metadata, which only the consumer can read. */
export const opaque = {
  encryptedMetadata: { ciphertext: 'c2VjcmV0', typeUrl: 'type.googleapis.com/x.Metadata' },
  measurementConsumerPublicKey: { '@type': TYPE_URLS.EncryptionPublicKey, data: 'AQID' },
};

export const ad = (brandName: string, campaignName: string) => ({
  eventGroupMetadata: { adMetadata: { campaignMetadata: { brandName, campaignName } } },
});

/** Readable metadata: a shows.Episode message, and the name of the descriptor that defines its type. */
export const readable = (eventGroupMetadataDescriptor: string, fields: object) => ({
  encryptedMetadata: {
    metadata: { eventGroupMetadataDescriptor, metadata: { '@type': typeUrl('shows.Episode'), ...fields } },
  },
});

/**
 * Test steps that write event groups, register descriptors, and read audit entries. By default the provider is streamly
 * and the consumer is acme.
 */
export function eventGroupSteps(exchange: TestExchange) {
  const { streamly, acme } = castOf(exchange);
  const send = (body: unknown, query = '', provider = streamly) =>
    post(exchange, provider, `${collection(provider)}${query}`, body);
  return {
    send,
    make: async (more: object = {}, provider = streamly): Promise<Reply['json']> =>
      ok(send({ measurementConsumer: acme.name, ...more }, '', provider)),
    put: (name: string, body: unknown, method = 'PUT', query = '') =>
      exchange.call(streamly.token, method, `/v2alpha/${name}${query}`, body),
    drop: (name: string, query = '') => exchange.call(streamly.token, 'DELETE', `/v2alpha/${name}${query}`),
    batch: (requests: unknown[], verb = 'batchCreate', query = '') => send({ requests }, `:${verb}${query}`),
    register: async (provider: DevParty, set: Uint8Array): Promise<string> => {
      const body = { descriptorSet: Buffer.from(set).toString('base64') };
      return (await ok(post(exchange, provider, `${provider.name}/eventGroupMetadataDescriptors`, body)))
        .name;
    },
    /** Returns the audit entries of a resource, oldest first, each as `operation version principal`. */
    audited: async (name: string): Promise<string[]> => {
      const rows = await exchange.database.query(
        'SELECT operation, version, principal FROM audit_entries WHERE name = $1 ORDER BY seq',
        [name],
      );
      return rows.map((row) => `${row.operation} ${row.version} ${row.principal}`);
    },
  };
}
