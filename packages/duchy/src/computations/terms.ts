import { termsDigest } from '@measurement-exchange/consent';
import type { StoredComputation } from '../database/index.ts';

/** Digest of everything that this duchy was told about a computation when it accepted it. */
export function termsOf({
  id,
  spec,
  view,
}: Pick<StoredComputation, 'id' | 'spec' | 'view'>): Promise<Uint8Array> {
  return termsDigest({
    computation: id,
    measurementSpec: spec,
    protocolConfig: view.protocolConfig,
    nonceHashes: view.requisitions.map(({ nonceHash }) => nonceHash),
  });
}
