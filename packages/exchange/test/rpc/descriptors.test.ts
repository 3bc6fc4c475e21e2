import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { type FileDescriptorSet, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { EventGroupMetadataDescriptors } from '@measurement-exchange/contract/rpc';
import { UNLIMITED, useExchange } from '@measurement-exchange/testkit/exchange';
import { completeSet, leanSet } from '@measurement-exchange/testkit/metadataSets';
import { clientOf, failureOf } from '@measurement-exchange/testkit/rpc';
import { castOf, get } from '@measurement-exchange/testkit/steps';
import { expect, it } from 'vitest';

const exchange = useExchange({ rate: UNLIMITED });
const clientBy = ({ token }: { token: string }) =>
  clientOf(exchange.dev, EventGroupMetadataDescriptors, { token });
const complete = fromBinary(FileDescriptorSetSchema, completeSet);
const lean = fromBinary(FileDescriptorSetSchema, leanSet);
const bytesOf = (set: FileDescriptorSet | undefined) => toBinary(FileDescriptorSetSchema, set!);

it('a descriptor can be created, read, updated and listed, and keeps custom options of its provider', async () => {
  const { acme, streamly } = castOf(exchange);
  const [provider, consumer] = [clientBy(streamly), clientBy(acme)];
  const parent = streamly.name;
  const request = { parent, requestId: 'shows', eventGroupMetadataDescriptor: { descriptorSet: complete } };
  const made = await provider.createEventGroupMetadataDescriptor(request);
  const { name } = made;
  expect(name).toMatch(new RegExp(`^${parent}/eventGroupMetadataDescriptors/[a-z0-9]+$`));
  expect(bytesOf(made.descriptorSet)).toEqual(completeSet);
  expect(await provider.createEventGroupMetadataDescriptor(request)).toEqual(made);
  expect(await consumer.getEventGroupMetadataDescriptor({ name })).toEqual(made);
  const read = await get(exchange, acme, `${name}?descriptorSetEncoding=BASE64`);
  expect(read.descriptorSet).toBe(Buffer.from(completeSet).toString('base64'));

  const changed = { eventGroupMetadataDescriptor: { name, descriptorSet: lean } };
  const updated = await provider.updateEventGroupMetadataDescriptor(changed);
  expect(bytesOf(updated.descriptorSet)).toEqual(leanSet);

  const second = await provider.createEventGroupMetadataDescriptor({ ...request, requestId: '' });
  const both = [second.name, name, name];
  for (const under of [parent, 'dataProviders/-']) {
    const found = await consumer.batchGetEventGroupMetadataDescriptors({ parent: under, names: both });
    expect(found.eventGroupMetadataDescriptors).toEqual([second, updated, updated]);
    const listed = await consumer.listEventGroupMetadataDescriptors({ parent: under });
    expect(listed).toMatchObject({ eventGroupMetadataDescriptors: [updated, second], nextPageToken: '' });
    const page = await consumer.listEventGroupMetadataDescriptors({ parent: under, pageSize: 1 });
    const { nextPageToken: pageToken } = page;
    const next = await consumer.listEventGroupMetadataDescriptors({ parent: under, pageToken });
    expect([page, next].flatMap((one) => one.eventGroupMetadataDescriptors)).toEqual([updated, second]);
  }
});

it('a list of more than 4 MiB is split into pages, and a batch of more than 4 MiB is rejected', async () => {
  const { chirper } = castOf(exchange);
  const client = clientBy(chirper);
  const parent = chirper.name;
  for (let i = 0; i < 5; i++) {
    const comment = 'x'.repeat(900_000);
    const sourceCodeInfo = { location: [{ path: [4, 0], span: [0, 0, 0], leadingComments: comment }] };
    const descriptorSet = {
      file: [{ name: `big${i}.proto`, package: `big${i}`, messageType: [{ name: 'Big' }], sourceCodeInfo }],
    };
    await client.createEventGroupMetadataDescriptor({
      parent,
      eventGroupMetadataDescriptor: { descriptorSet: descriptorSet as never },
    });
  }
  const sizes: number[] = [];
  const names: string[] = [];
  let pageToken = '';
  do {
    const page = await client.listEventGroupMetadataDescriptors({ parent, pageToken });
    sizes.push(page.eventGroupMetadataDescriptors.length);
    names.push(...page.eventGroupMetadataDescriptors.map(({ name }) => name));
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
  expect(sizes.reduce((sum, size) => sum + size)).toBe(5);
  expect(sizes.length).toBeGreaterThan(1);

  const get = (names: string[]) => client.batchGetEventGroupMetadataDescriptors({ parent, names });
  expect((await get(names.slice(0, 2))).eventGroupMetadataDescriptors).toHaveLength(2);
  expect(await failureOf(get(names))).toBe('resource_exhausted RESPONSE_TOO_LARGE');
});

it('an invalid request is rejected with the names of its protobuf fields', async () => {
  const { acme, streamly } = castOf(exchange);
  const client = clientBy(streamly);
  const parent = streamly.name;
  expect(await failureOf(client.createEventGroupMetadataDescriptor({ parent }))).toBe(
    'invalid_argument REQUIRED_FIELD_NOT_SET event_group_metadata_descriptor.descriptor_set',
  );
  expect(await failureOf(client.updateEventGroupMetadataDescriptor({}))).toBe(
    'invalid_argument REQUIRED_FIELD_NOT_SET event_group_metadata_descriptor.name',
  );
  const names = [`${parent}/eventGroupMetadataDescriptors/none`];
  expect(await failureOf(client.batchGetEventGroupMetadataDescriptors({ parent, names }))).toBe(
    'not_found EVENT_GROUP_METADATA_DESCRIPTOR_NOT_FOUND',
  );
  expect(await failureOf(clientBy(acme).createEventGroupMetadataDescriptor({ parent }))).toBe(
    'permission_denied PERMISSION_DENIED',
  );
});
