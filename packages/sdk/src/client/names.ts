/** Returns the party that owns a resource: `dataProviders/x` for `dataProviders/x/certificates/y`. */
export function partyOf(name: string): string {
  return name.split('/').slice(0, 2).join('/');
}
