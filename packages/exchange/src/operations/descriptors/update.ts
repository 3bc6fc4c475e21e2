import type { EventGroupMetadataDescriptor, RequestOf } from '@measurement-exchange/contract';
import {
  countEventGroups,
  type DescriptorRecord,
  lockDescriptor,
  updateDescriptor,
} from '../../database/descriptors.ts';
import { replaceTypes } from '../../database/descriptorTypes.ts';
import { partyName } from '../../domain/access.ts';
import { packageFindings, schemaChangeFindings } from '../../domain/descriptor/findings.ts';
import { diffDescriptorSets } from '../../domain/schemaDiff/schemaDiff.ts';
import { strictlyAfter } from '../../domain/time.ts';
import type { Call, Exchange } from '../context.ts';
import { mutate } from '../mutate.ts';
import { findTypes, readSet } from './read.ts';
import { descriptorName, descriptorNotFound, versionOf, viewDescriptor } from './view.ts';

export async function updateEventGroupMetadataDescriptor(
  exchange: Exchange,
  call: Call,
  request: RequestOf<'updateEventGroupMetadataDescriptor'>,
): Promise<EventGroupMetadataDescriptor> {
  const provider = partyName('dataProvider', request.params.dataProvider);
  const id = request.params.eventGroupMetadataDescriptor;
  const set = readSet(request.body.descriptorSet);
  const encoding = request.query.descriptorSetEncoding;
  return mutate('updateEventGroupMetadataDescriptor', exchange, call, request, async (tx) => {
    const [types, before] = await Promise.all([
      findTypes(exchange, tx, provider, id, set),
      lockDescriptor(tx, provider, id),
    ]);
    if (before === undefined) throw descriptorNotFound(descriptorName(provider, id));
    const breaking = diffDescriptorSets(before.descriptorSet, set.bytes).filter((c) => c.breaking);
    const eventGroups = breaking.length === 0 ? 0 : await countEventGroups(tx, id);
    const rejecting = [
      ...packageFindings(set.messagesWithoutPackage),
      ...types.own,
      ...schemaChangeFindings(breaking, eventGroups),
    ];
    const after: DescriptorRecord = {
      ...before,
      descriptorSet: set.bytes,
      version: before.version + 1,
      updateTime: strictlyAfter(exchange.clock(), before.updateTime),
    };
    return {
      findings: [...rejecting, ...types.others],
      rejecting,
      save: () => {
        updateDescriptor(tx, after);
        replaceTypes(tx, id, set.messageTypes);
      },
      versions: [versionOf(after)],
      view: () => viewDescriptor(after, encoding),
    };
  });
}
