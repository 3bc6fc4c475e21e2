import { getDescriptor } from '../../database/descriptors.ts';
import { partyName } from '../../domain/access.ts';
import type { Handler } from '../context.ts';
import { readSet } from './read.ts';
import { requireDescriptor } from './view.ts';

export const diffEventGroupMetadataDescriptor: Handler<'diffEventGroupMetadataDescriptor'> = async (
  exchange,
  call,
  { params, path, body },
) => {
  const provider = partyName('dataProvider', params.dataProvider);
  const { bytes: after } = await readSet(call, body.descriptorSet);
  const found = await getDescriptor(exchange.db, provider, params.eventGroupMetadataDescriptor);
  const { descriptorSet: before } = requireDescriptor(found, path);
  const { changes, breaking, omitted } = await call.compute('diff', { before, after });
  return { compatible: breaking === 0, changes, omittedChanges: omitted === 0 ? undefined : omitted };
};
