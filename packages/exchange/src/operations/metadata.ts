/** Readable metadata: messages that nobody here was compiled with, explained by the descriptors of their providers. */
import { type DecodedMessage, ExchangeError, invalid, type RequestOf } from '@measurement-exchange/contract';
import { getDescriptor } from '../database/descriptors.ts';
import { descriptorVersions, getEventGroup } from '../database/eventGroups.ts';
import { partyName } from '../domain/access.ts';
import { eventGroupNotFound } from '../domain/eventGroup.ts';
import { decodeMetadata as decode, within } from '../domain/metadata/metadata.ts';
import type { Call, Exchange } from './context.ts';
import { descriptorName, descriptorNotFound, sideOf } from './eventGroupViews.ts';
import { schemasOf, UNLINKABLE } from './metadataSchemas.ts';

export async function decodeMetadata(
  x: Exchange,
  _call: Call,
  { params, body }: RequestOf<'decodeMetadata'>,
): Promise<DecodedMessage> {
  const provider = partyName('dataProvider', params.dataProvider);
  const name = descriptorName(provider, params.eventGroupMetadataDescriptor);
  const descriptor = await getDescriptor(x.db, provider, params.eventGroupMetadataDescriptor);
  if (descriptor === undefined) throw descriptorNotFound(name);
  const schema = (await schemasOf(x.db, [descriptor])).get(descriptor.id);
  if (schema === undefined) throw notReadable(`${name} ${UNLINKABLE}.`);
  const read = decode(schema, body.typeUrl, body.value);
  if ('json' in read) return { typeUrl: body.typeUrl, message: read.json };
  const isType = read.violations[0]?.field === 'typeUrl';
  throw invalid(isType ? read.violations : within('value', read.violations));
}

/** The metadata of an event group, by the descriptor as it is now. */
export async function decodeEventGroup(
  x: Exchange,
  _call: Call,
  { params, path }: RequestOf<'decodeEventGroup'>,
): Promise<DecodedMessage> {
  const { side, party } = sideOf(params);
  const group = await getEventGroup(x.db, side, party, params.eventGroup);
  if (group === undefined) throw eventGroupNotFound(path);
  const { readable } = group;
  if (readable === undefined) {
    throw notReadable(`${path} has no readable metadata: it has none, or it is encrypted.`);
  }
  const schemas = await schemasOf(x.db, await descriptorVersions(x.db, [readable.descriptor]));
  const schema = schemas.get(readable.descriptor);
  const read = schema && decode(schema, readable.typeUrl, readable.value);
  if (read && 'json' in read) return { typeUrl: readable.typeUrl, message: read.json };
  const why = read
    ? within('metadata', read.violations).map((v) => `${v.field} ${v.description}`)[0]
    : undefined;
  throw notReadable(
    `${path} does not match its descriptor, which changed since${why ? `: ${why}` : ''}. Update the event group.`,
  );
}

function notReadable(message: string): ExchangeError {
  return new ExchangeError('METADATA_NOT_READABLE', message);
}
