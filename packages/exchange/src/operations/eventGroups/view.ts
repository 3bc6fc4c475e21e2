/** Event groups as resources of the API, in the form of the side that reads them. */
import { type EventGroup, toBase64 } from '@measurement-exchange/contract';
import type { Queryable } from '../../database/db.ts';
import { descriptorVersions, type Side } from '../../database/eventGroups.ts';
import { partyName } from '../../domain/access.ts';
import { type EventGroupRecord, eventGroupName, type ReadableMetadata } from '../../domain/eventGroup.ts';
import { decodeMetadata } from '../../domain/metadata/metadata.ts';
import { type Schemas, schemasOf } from '../descriptors/compiledSchemas.ts';
import { descriptorName } from '../descriptors/view.ts';
import type { Version } from '../mutate.ts';

/** Who a path is about: each side reads under its own name. */
export function sideOf(params: { dataProvider: string } | { measurementConsumer: string }): {
  side: Side;
  party: string;
} {
  return 'dataProvider' in params
    ? { side: 'provider', party: partyName('dataProvider', params.dataProvider) }
    : { side: 'consumer', party: partyName('measurementConsumer', params.measurementConsumer) };
}

export function versionOf(group: EventGroupRecord): Version {
  return { name: eventGroupName(group.provider, group.id), version: group.version, time: group.updateTime };
}

/** Readable metadata is decoded by its descriptor as it is now. */
export async function viewEventGroups(
  db: Queryable,
  side: Side,
  groups: EventGroupRecord[],
): Promise<EventGroup[]> {
  const ids = new Set(groups.flatMap(({ readable }) => (readable ? [readable.descriptor] : [])));
  const schemas = await schemasOf(db, await descriptorVersions(db, [...ids]));
  return groups.map((group) => view(group, side, schemas));
}

function view(g: EventGroupRecord, side: Side, schemas: Schemas): EventGroup {
  const isAd = g.brandName !== undefined || g.campaignName !== undefined;
  return {
    name: eventGroupName(g[side], g.id),
    dataProvider: g.provider,
    measurementConsumer: g.consumer,
    eventGroupReferenceId: g.referenceId,
    mediaTypes: g.mediaTypes.length > 0 ? g.mediaTypes : undefined,
    dataAvailabilityInterval: g.availability,
    eventGroupMetadata: isAd
      ? { adMetadata: { campaignMetadata: { brandName: g.brandName, campaignName: g.campaignName } } }
      : undefined,
    encryptedMetadata: g.readable
      ? {
          metadata: {
            eventGroupMetadataDescriptor: descriptorName(g.provider, g.readable.descriptor),
            metadata: viewMetadata(g.readable, schemas),
          },
        }
      : g.encrypted,
    measurementConsumerPublicKey: g.publicKey,
    state: g.state,
    createTime: g.createTime,
    updateTime: g.updateTime,
  };
}

/** As JSON while the descriptor explains all of it, otherwise as bytes. */
function viewMetadata({ descriptor, typeUrl, value }: ReadableMetadata, schemas: Schemas): object {
  const schema = schemas.get(descriptor);
  const read = schema && decodeMetadata(schema, typeUrl, value);
  return read && 'json' in read ? { '@type': typeUrl, ...read.json } : { typeUrl, value: toBase64(value) };
}
