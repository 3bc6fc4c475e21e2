import { termsDigest } from '@measurement-exchange/consent';
import type { StoredComputation } from '../database/index.ts';

export function termsOf(computation: Pick<StoredComputation, 'id' | 'spec' | 'view'>): Promise<Uint8Array> {
  const { id, spec: measurementSpec, view } = computation;
  const nonceHashes = view.requisitions.map(({ nonceHash }) => nonceHash);
  return termsDigest({ computation: id, measurementSpec, protocolConfig: view.protocolConfig, nonceHashes });
}
