import type { PrincipalBinding } from '@measurement-exchange/contract';
import type { BindingRecord } from '../../database/principals.ts';

export function principalName(id: string): string {
  return `principals/${id}`;
}

export function viewPrincipal({ id, ...binding }: BindingRecord): PrincipalBinding {
  return { name: principalName(id), ...binding };
}
