import { ExchangeError, invalid, JsonText } from '@measurement-exchange/contract';
import { getDescriptor } from '../../database/descriptors.ts';
import { partyName } from '../../domain/access.ts';
import { within } from '../../protobuf/metadata/metadata.ts';
import type { Handler } from '../context.ts';
import { UNLINKABLE, withSchemas } from './schemas.ts';
import { requireDescriptor } from './view.ts';

export const decodeMetadata: Handler<'decodeMetadata'> = async (exchange, call, { params, path, body }) => {
  const provider = partyName('dataProvider', params.dataProvider);
  const found = await getDescriptor(exchange.db, provider, params.eventGroupMetadataDescriptor);
  const { id, version, descriptorSet: set } = requireDescriptor(found, path);
  const message = { descriptor: id, typeUrl: body.typeUrl, value: body.value };
  const schemas = [{ id, version, bytes: set.length, set }];
  const read = await withSchemas(exchange.db, schemas, ([schema]) =>
    call.compute('decode', { schema: schema!, message }),
  );
  if (read === undefined) throw new ExchangeError('METADATA_NOT_READABLE', `${path} ${UNLINKABLE}.`);
  if ('text' in read) return { typeUrl: body.typeUrl, message: new JsonText(read.text) };
  const isType = read.violations[0]?.field === 'typeUrl';
  throw invalid(isType ? read.violations : within('value', read.violations));
};
