import { invalid, parseName, WILDCARD } from '@measurement-exchange/contract';
import { getDescriptors } from '../../database/descriptors.ts';
import type { Handler } from '../context.ts';
import { MAX_BATCH_BYTES, responseTooLarge } from '../paging.ts';
import { descriptorName, printedBytes, requireDescriptor, sizeOf, viewDescriptors } from './view.ts';

export const batchGetEventGroupMetadataDescriptors: Handler<'batchGetEventGroupMetadataDescriptors'> = async (
  exchange,
  call,
  { params, query },
) => {
  const anyProvider = params.dataProvider === WILDCARD;
  const ids = query.names.map((name, i) => {
    const { dataProvider, eventGroupMetadataDescriptor } = parseName('eventGroupMetadataDescriptor', name)!;
    if (anyProvider ? dataProvider === WILDCARD : dataProvider !== params.dataProvider) {
      const description = anyProvider
        ? 'must name one provider'
        : `must be under dataProviders/${params.dataProvider}`;
      throw invalid([{ field: `names[${i}]`, description }]);
    }
    return eventGroupMetadataDescriptor;
  });
  const found = await getDescriptors(exchange.db, [...new Set(ids)]);
  const byName = new Map(found.map((d) => [descriptorName(d.provider, d.id), d]));
  const descriptors = query.names.map((name) => requireDescriptor(byName.get(name), name));
  const encoding = query.descriptorSetEncoding;
  const bytes = descriptors.reduce((sum, d) => sum + printedBytes(d, encoding), 0);
  if (bytes > MAX_BATCH_BYTES) throw responseTooLarge();
  const views = await viewDescriptors(call, found, encoding, MAX_BATCH_BYTES);
  if (views.length < found.length) throw responseTooLarge();
  const viewOf = new Map(found.map((d, i) => [d, views[i]!]));
  const asked = descriptors.map((d) => viewOf.get(d)!);
  // Check the size again after the conversion, because descriptor sets from an earlier version of the exchange have no
  // recorded JSON size.
  if (asked.reduce((sum, view) => sum + sizeOf(view), 0) > MAX_BATCH_BYTES) throw responseTooLarge();
  return { eventGroupMetadataDescriptors: asked };
};
