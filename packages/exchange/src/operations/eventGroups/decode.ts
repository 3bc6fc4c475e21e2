import { ExchangeError, JsonText } from '@measurement-exchange/contract';
import { descriptorVersions, getEventGroup } from '../../database/eventGroups.ts';
import { requireFound } from '../../domain/found.ts';
import { within } from '../../protobuf/metadata/metadata.ts';
import type { Handler } from '../context.ts';
import { withSchemas } from '../descriptors/schemas.ts';
import { sideOf } from './view.ts';

export const decodeEventGroup: Handler<'decodeEventGroup'> = async (exchange, call, { params, path }) => {
  const { side, party } = sideOf(params);
  const group = await getEventGroup[side](exchange.db, party, params.eventGroup);
  const { readable } = requireFound(group, 'EVENT_GROUP_NOT_FOUND', path);
  if (readable === undefined) {
    throw notReadable(`${path} has no metadata, or its metadata is encrypted.`);
  }
  const { descriptor, typeUrl, value } = readable;
  const schemas = await descriptorVersions(exchange.db, [descriptor]);
  const read = await withSchemas(exchange.db, schemas, ([schema]) =>
    call.compute('decode', { schema: schema!, message: { descriptor, typeUrl, value } }),
  );
  if (read && 'text' in read) return { typeUrl, message: new JsonText(read.text) };
  const why = read
    ? within('metadata', read.violations).map((v) => `${v.field} ${v.description}`)[0]
    : undefined;
  throw notReadable(
    `The metadata of ${path} does not match its descriptor any more${why ? `: ${why}` : ''}. Update the event group.`,
  );
};

function notReadable(message: string): ExchangeError {
  return new ExchangeError('METADATA_NOT_READABLE', message);
}
