/** The roles of the console's users. */

export type Role = 'consumer' | 'provider' | 'duchy' | 'operator';

const ROLES: Record<string, Role> = {
  measurementConsumers: 'consumer',
  dataProviders: 'provider',
  duchies: 'duchy',
  operator: 'operator',
};

export const ROLE_WORDS: Record<Role, string> = {
  consumer: 'Advertiser',
  provider: 'Publisher',
  duchy: 'Duchy',
  operator: 'Operator',
};

export function roleOf(principal: string): Role {
  return ROLES[principal.split('/')[0]!] ?? 'operator';
}

export const idOf = (name: string) => name.split('/').at(-1)!;
