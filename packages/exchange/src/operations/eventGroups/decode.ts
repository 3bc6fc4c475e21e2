import { type DecodedMessage, ExchangeError, type RequestOf } from '@measurement-exchange/contract';
import { descriptorVersions, getEventGroup } from '../../database/eventGroups.ts';
import { eventGroupNotFound } from '../../domain/eventGroup.ts';
import { decodeMetadata as decode, within } from '../../domain/metadata/metadata.ts';
import type { Call, Exchange } from '../context.ts';
import { schemasOf } from '../descriptors/compiledSchemas.ts';
import { sideOf } from './view.ts';

/** The metadata of an event group, by the descriptor as it is now. */
export async function decodeEventGroup(
  exchange: Exchange,
  _call: Call,
  { params, path }: RequestOf<'decodeEventGroup'>,
): Promise<DecodedMessage> {
  const { side, party } = sideOf(params);
  const group = await getEventGroup(exchange.db, side, party, params.eventGroup);
  if (group === undefined) throw eventGroupNotFound(path);
  const { readable } = group;
  if (readable === undefined) {
    throw notReadable(`${path} has no readable metadata: it has none, or it is encrypted.`);
  }
  const schemas = await schemasOf(exchange.db, await descriptorVersions(exchange.db, [readable.descriptor]));
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
