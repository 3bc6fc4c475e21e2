/** Checks the descriptor sets of create and update requests. */
import { exactJson, fromBase64, invalid, type JsonValue } from '@measurement-exchange/contract';
import type { Transaction } from '../../database/db.ts';
import { lockTypes, registeredTypes } from '../../database/descriptorTypes.ts';
import { typeFindings } from '../../domain/descriptorFindings.ts';
import type { DescriptorSet } from '../../protobuf/descriptor/descriptorSet.ts';
import type { Call, Exchange } from '../context.ts';
import { descriptorName } from './view.ts';

export async function readSet(call: Call, input: unknown): Promise<DescriptorSet> {
  const field = 'descriptorSet';
  const bytes = typeof input === 'string' ? fromBase64(input) : undefined;
  if (typeof input === 'string' && bytes === undefined)
    throw invalid([{ field, description: 'must be base64' }]);
  const set = bytes ? { bytes } : { json: exactJson((input ?? null) as JsonValue) };
  const read = await call.compute('readSet', { set });
  if ('violations' in read) {
    throw invalid(
      read.violations.map((v) => ({ ...v, field: v.field === '' ? field : `${field}.${v.field}` })),
    );
  }
  return read;
}

/**
 * Returns findings about types that other descriptors also define. With the setting `checks: strict`, locks the
 * provider's types until the transaction ends, so that no concurrent request of the provider can add types.
 */
export async function findTypes(
  exchange: Exchange,
  tx: Transaction,
  provider: string,
  id: string,
  set: DescriptorSet,
) {
  const [, registered] = await Promise.all([
    exchange.checks === 'strict' && lockTypes(tx, provider),
    registeredTypes(tx, provider, id, set.messageTypes),
  ]);
  return typeFindings(
    registered.map(({ type, own }) => ({ type, own: own && descriptorName(provider, own) })),
  );
}
