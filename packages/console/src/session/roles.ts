/** The roles of the people who use the console. */

export type Role = 'consumer' | 'provider' | 'duchy' | 'operator';

const ROLES: Record<string, Role> = {
  measurementConsumers: 'consumer',
  dataProviders: 'provider',
  duchies: 'duchy',
  operator: 'operator',
};

/** The words for each role in the console. */
export const ROLE_WORDS: Record<Role, string> = {
  consumer: 'Advertiser',
  provider: 'Publisher',
  duchy: 'Duchy',
  operator: 'Operator',
};

export function roleOf(principal: string): Role {
  return ROLES[principal.split('/')[0]!] ?? 'operator';
}

/** Returns the last part of a resource name, such as `acme` for `measurementConsumers/acme`. */
export const idOf = (name: string) => name.split('/').at(-1)!;
