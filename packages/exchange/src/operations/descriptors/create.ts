import {
  type DescriptorRecord,
  findDescriptorByRequestId,
  insertDescriptor,
} from '../../database/descriptors.ts';
import { insertTypes } from '../../database/descriptorTypes.ts';
import { partyName } from '../../domain/access.ts';
import { packageFindings } from '../../domain/descriptorFindings.ts';
import type { Handler } from '../context.ts';
import { contentHash, idempotently, requireSameContent } from '../idempotency.ts';
import { mutate } from '../mutate.ts';
import { MAX_PAGE_BYTES } from '../paging.ts';
import { findTypes, readSet } from './read.ts';
import { descriptorName, versionOf, viewDescriptor, viewDescriptors } from './view.ts';

export const createEventGroupMetadataDescriptor: Handler<'createEventGroupMetadataDescriptor'> = async (
  exchange,
  call,
  request,
) => {
  const provider = partyName('dataProvider', request.params.dataProvider);
  const set = await readSet(call, request.body.descriptorSet);
  const hash = contentHash(set.bytes);
  const { requestId } = request;
  const json = request.query.descriptorSetEncoding === 'BASE64' ? undefined : set.json;
  return idempotently('descriptors_request_id', 1, () =>
    mutate('createEventGroupMetadataDescriptor', exchange, call, request, async (tx) => {
      const id = exchange.newId();
      // Call `findTypes` first, because it may lock the types. A request that waited for the lock then finds the
      // descriptor that an identical request created.
      const [types, earlier] = await Promise.all([
        findTypes(exchange, tx, provider, id, set),
        requestId === undefined ? undefined : findDescriptorByRequestId(tx, provider, requestId),
      ]);
      if (earlier !== undefined) {
        const { descriptor } = earlier;
        requireSameContent(earlier.hash, hash, requestId!, descriptorName(provider, descriptor.id));
        const encoding = request.query.descriptorSetEncoding;
        const [view] = await viewDescriptors(call, [descriptor], encoding, MAX_PAGE_BYTES);
        return { view: () => view! };
      }
      const rejecting = [...packageFindings(set.messagesWithoutPackage), ...types.own];
      const now = exchange.clock();
      const descriptor: DescriptorRecord = {
        id,
        provider,
        descriptorSet: set.bytes,
        jsonBytes: Buffer.byteLength(set.json),
        version: 1,
        createTime: now,
        updateTime: now,
      };
      return {
        findings: [...rejecting, ...types.others],
        rejecting,
        save: () => {
          insertDescriptor(tx, descriptor, requestId === undefined ? undefined : { id: requestId, hash });
          insertTypes(tx, id, set.messageTypes);
        },
        versions: [versionOf(descriptor)],
        view: () => viewDescriptor(descriptor, json),
      };
    }),
  );
};
