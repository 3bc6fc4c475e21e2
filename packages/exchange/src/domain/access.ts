/**
 * Decides whether a caller may call a route. The decision needs only the names in the request, so it runs before any
 * database query. routes.ts in the contract package has the rules of each route.
 */
import {
  ExchangeError,
  formatName,
  type PrincipalKind,
  parseName,
  type Route,
  WILDCARD,
} from '@measurement-exchange/contract';

export interface Principal {
  kind: PrincipalKind;
  /** The party's ID, or empty for the operator. */
  id: string;
  /** A party's resource name, such as `dataProviders/x`, or `operator`. */
  name: string;
}

export const OPERATOR: Principal = { kind: 'operator', id: '', name: 'operator' };

export const PARTY_KINDS = ['measurementConsumer', 'dataProvider', 'duchy'] as const;
export type PartyKind = (typeof PARTY_KINDS)[number];

export function parsePrincipal(name: string): Principal | undefined {
  if (name === OPERATOR.name) return OPERATOR;
  for (const kind of PARTY_KINDS) {
    const vars = parseName(kind, name) as Record<string, string> | undefined;
    if (vars !== undefined && vars[kind] !== WILDCARD) return { kind, id: vars[kind]!, name };
  }
  return undefined;
}

/** Returns the party in a resource name, for example `dataProviders/x` for `dataProviders/x/certificates/y`. */
export function partyOf(name: string): string {
  return name.split('/').slice(0, 2).join('/');
}

export function partyName(kind: PartyKind, id: string): string {
  return formatName(kind, { [kind]: id } as never);
}

export function may(principal: Principal, route: Route, params: Record<string, string>): boolean {
  const rule = route.access[principal.kind];
  if (rule === undefined) return false;
  const [owner, ...below] = Object.values(params);
  if (below.includes(WILDCARD)) return false;
  if (rule === 'own') return owner === principal.id;
  return rule === 'all' || owner !== WILDCARD;
}

/**
 * Throws unless the principal is allowed to call the route. The error does not depend on whether the resource exists,
 * so that callers cannot find out which resources exist.
 */
export function authorize(principal: Principal, route: Route, params: Record<string, string>): void {
  if (may(principal, route, params)) return;
  throw new ExchangeError('PERMISSION_DENIED', `${principal.name} may not do this here.`);
}
