import type { TrustedRoot } from '@measurement-exchange/contract';
import type { TrustedRootRecord } from '../../database/trustedRoots.ts';

export function trustedRootName(id: string): string {
  return `trustedRoots/${id}`;
}

export function viewTrustedRoot({ id, ...root }: TrustedRootRecord): TrustedRoot {
  return { name: trustedRootName(id), ...root };
}
