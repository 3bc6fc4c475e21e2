import type { RequestOf, SchemaDiff } from '@measurement-exchange/contract';
import { getDescriptor } from '../../database/descriptors.ts';
import { partyName } from '../../domain/access.ts';
import { diffDescriptorSets } from '../../domain/schemaDiff/schemaDiff.ts';
import type { Call, Exchange } from '../context.ts';
import { readSet } from './read.ts';
import { descriptorName, descriptorNotFound } from './view.ts';

export async function diffEventGroupMetadataDescriptor(
  exchange: Exchange,
  _call: Call,
  { params, body }: RequestOf<'diffEventGroupMetadataDescriptor'>,
): Promise<SchemaDiff> {
  const provider = partyName('dataProvider', params.dataProvider);
  const id = params.eventGroupMetadataDescriptor;
  const { bytes } = readSet(body.descriptorSet);
  const found = await getDescriptor(exchange.db, provider, id);
  if (found === undefined) throw descriptorNotFound(descriptorName(provider, id));
  const changes = diffDescriptorSets(found.descriptorSet, bytes);
  return { compatible: !changes.some((change) => change.breaking), changes };
}
