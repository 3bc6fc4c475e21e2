import {
  countEventGroups,
  type DescriptorRecord,
  getDescriptor,
  lockDescriptor,
  updateDescriptor,
} from '../../database/descriptors.ts';
import { replaceTypes } from '../../database/descriptorTypes.ts';
import { partyName } from '../../domain/access.ts';
import { packageFindings, schemaChangeFindings } from '../../domain/descriptorFindings.ts';
import { nextVersion } from '../../domain/time.ts';
import type { Handler } from '../context.ts';
import { mutate } from '../mutate.ts';
import { findTypes, readSet } from './read.ts';
import { requireDescriptor, versionOf, viewDescriptor } from './view.ts';

export const updateEventGroupMetadataDescriptor: Handler<'updateEventGroupMetadataDescriptor'> = async (
  exchange,
  call,
  request,
) => {
  const provider = partyName('dataProvider', request.params.dataProvider);
  const id = request.params.eventGroupMetadataDescriptor;
  const set = await readSet(call, request.body.descriptorSet);
  const json = request.query.descriptorSetEncoding === 'BASE64' ? undefined : set.json;
  const diffWith = ({ descriptorSet }: DescriptorRecord) =>
    call.compute('diff', { before: descriptorSet, after: set.bytes });
  // Compare the stored and the new descriptor set before locking the row. Compare again only if the row has changed
  // meanwhile.
  const found = await getDescriptor(exchange.db, provider, id);
  const expected = found && { version: found.version, diff: await diffWith(found) };
  return mutate('updateEventGroupMetadataDescriptor', exchange, call, request, async (tx) => {
    const [types, locked] = await Promise.all([
      findTypes(exchange, tx, provider, id, set),
      lockDescriptor(tx, provider, id),
    ]);
    const before = requireDescriptor(locked, request.path);
    const diff = expected?.version === before.version ? expected.diff : await diffWith(before);
    const eventGroups = diff.breaking === 0 ? 0 : await countEventGroups(tx, id);
    const rejecting = [
      ...packageFindings(set.messagesWithoutPackage),
      ...types.own,
      ...schemaChangeFindings(diff, eventGroups),
    ];
    const after: DescriptorRecord = {
      ...before,
      descriptorSet: set.bytes,
      jsonBytes: Buffer.byteLength(set.json),
      ...nextVersion(before, exchange.clock()),
    };
    return {
      findings: [...rejecting, ...types.others],
      rejecting,
      save: () => {
        updateDescriptor(tx, after);
        replaceTypes(tx, id, set.messageTypes);
      },
      versions: [versionOf(after)],
      view: () => viewDescriptor(after, json),
    };
  });
};
