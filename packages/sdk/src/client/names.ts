/** Returns the party that a resource belongs to: `dataProviders/x` of `dataProviders/x/certificates/y`. */
export function partyOf(name: string): string {
  return name.split('/').slice(0, 2).join('/');
}
