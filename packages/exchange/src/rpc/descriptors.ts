/**
 * Implements the EventGroupMetadataDescriptors service: gets, creates, updates, and lists the schemas of event group
 * metadata.
 */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import type { ServiceImpl } from '@connectrpc/connect';
import {
  type EventGroupMetadataDescriptor as DescriptorResource,
  fromBase64,
  toBase64,
} from '@measurement-exchange/contract';
import {
  BatchGetEventGroupMetadataDescriptorsResponseSchema,
  type EventGroupMetadataDescriptor,
  EventGroupMetadataDescriptorSchema,
  type EventGroupMetadataDescriptors,
  ListEventGroupMetadataDescriptorsResponseSchema,
} from '@measurement-exchange/contract/rpc';
import { type Api, idsIn, withinLimit } from './api.ts';
import { given } from './values.ts';

/**
 * Requests descriptor sets as the stored bytes, because other encodings would lose options that the exchange does not
 * know.
 */
const ENCODING = { descriptorSetEncoding: 'BASE64' } as const;
const MEMBER = 'eventGroupMetadataDescriptor';

export function descriptors(api: Api): Partial<ServiceImpl<typeof EventGroupMetadataDescriptors>> {
  return {
    getEventGroupMetadataDescriptor: api.unary(async ({ name }, call) => {
      const params = idsIn('eventGroupMetadataDescriptor', name);
      return toDescriptor(await call.run('getEventGroupMetadataDescriptor', params, { query: ENCODING }));
    }),

    createEventGroupMetadataDescriptor: api.unary(async (message, call) => {
      const request = {
        query: ENCODING,
        body: fromDescriptor(message[MEMBER]),
        within: MEMBER,
        requestId: given(message.requestId),
      };
      const params = idsIn('dataProvider', message.parent, 'parent');
      return toDescriptor(await call.run('createEventGroupMetadataDescriptor', params, request));
    }),

    updateEventGroupMetadataDescriptor: api.unary(async ({ [MEMBER]: descriptor }, call) => {
      const params = idsIn('eventGroupMetadataDescriptor', descriptor?.name ?? '', `${MEMBER}.name`);
      const request = { query: ENCODING, body: fromDescriptor(descriptor), within: MEMBER };
      return toDescriptor(await call.run('updateEventGroupMetadataDescriptor', params, request));
    }),

    batchGetEventGroupMetadataDescriptors: api.unary(async ({ parent, names }, call) => {
      const found = await call.run(
        'batchGetEventGroupMetadataDescriptors',
        idsIn('dataProvider', parent, 'parent'),
        { query: { names, ...ENCODING } },
      );
      return create(BatchGetEventGroupMetadataDescriptorsResponseSchema, {
        eventGroupMetadataDescriptors: withinLimit(found.eventGroupMetadataDescriptors).map(toDescriptor),
      });
    }),

    listEventGroupMetadataDescriptors: api.unary(async ({ parent, pageSize, pageToken }, call) => {
      // Limit the size of the page before decoding its descriptor sets, because decoded sets take many times more
      // memory.
      const page = await call.runPage(
        'listEventGroupMetadataDescriptors',
        idsIn('dataProvider', parent, 'parent'),
        { query: { pageSize, pageToken: given(pageToken), ...ENCODING } },
        (page) => page,
        (page) => page.eventGroupMetadataDescriptors,
      );
      return create(ListEventGroupMetadataDescriptorsResponseSchema, {
        eventGroupMetadataDescriptors: page.eventGroupMetadataDescriptors.map(toDescriptor),
        nextPageToken: page.nextPageToken ?? '',
      });
    }),
  };
}

function fromDescriptor(descriptor: EventGroupMetadataDescriptor | undefined) {
  const set = descriptor?.descriptorSet;
  return { descriptorSet: set && toBase64(toBinary(FileDescriptorSetSchema, set)) };
}

function toDescriptor({ name, descriptorSet }: DescriptorResource): EventGroupMetadataDescriptor {
  return create(EventGroupMetadataDescriptorSchema, {
    name,
    descriptorSet: fromBinary(FileDescriptorSetSchema, fromBase64(descriptorSet as string)!),
  });
}
