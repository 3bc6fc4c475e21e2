import { type DecodedMessage, ExchangeError, invalid, type RequestOf } from '@measurement-exchange/contract';
import { getDescriptor } from '../../database/descriptors.ts';
import { partyName } from '../../domain/access.ts';
import { decodeMetadata as decode, within } from '../../domain/metadata/metadata.ts';
import type { Call, Exchange } from '../context.ts';
import { schemasOf, UNLINKABLE } from './compiledSchemas.ts';
import { descriptorName, descriptorNotFound } from './view.ts';

/** A message of the caller, decoded by a descriptor. */
export async function decodeMetadata(
  exchange: Exchange,
  _call: Call,
  { params, body }: RequestOf<'decodeMetadata'>,
): Promise<DecodedMessage> {
  const provider = partyName('dataProvider', params.dataProvider);
  const name = descriptorName(provider, params.eventGroupMetadataDescriptor);
  const descriptor = await getDescriptor(exchange.db, provider, params.eventGroupMetadataDescriptor);
  if (descriptor === undefined) throw descriptorNotFound(name);
  const schema = (await schemasOf(exchange.db, [descriptor])).get(descriptor.id);
  if (schema === undefined) throw new ExchangeError('METADATA_NOT_READABLE', `${name} ${UNLINKABLE}.`);
  const read = decode(schema, body.typeUrl, body.value);
  if ('json' in read) return { typeUrl: body.typeUrl, message: read.json };
  const isType = read.violations[0]?.field === 'typeUrl';
  throw invalid(isType ? read.violations : within('value', read.violations));
}
