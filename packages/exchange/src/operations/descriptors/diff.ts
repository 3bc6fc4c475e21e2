import { getDescriptor } from '../../database/descriptors.ts';
import { partyName } from '../../domain/access.ts';
import type { Handler } from '../context.ts';
import { readSet } from './read.ts';
import { descriptorName, descriptorNotFound } from './view.ts';

export const diffEventGroupMetadataDescriptor: Handler<'diffEventGroupMetadataDescriptor'> = async (
  exchange,
  call,
  { params, body },
) => {
  const provider = partyName('dataProvider', params.dataProvider);
  const id = params.eventGroupMetadataDescriptor;
  const { bytes } = await readSet(call, body.descriptorSet);
  const found = await getDescriptor(exchange.db, provider, id);
  if (found === undefined) throw descriptorNotFound(descriptorName(provider, id));
  const diff = await call.compute('diff', { before: found.descriptorSet, after: bytes });
  const { changes, breaking, omitted } = diff;
  return { compatible: breaking === 0, changes, omittedChanges: omitted === 0 ? undefined : omitted };
};
