/** Authorization, decided from names alone before any lookup. The rules are in the routes table. */
import {
  ExchangeError,
  formatName,
  type PrincipalKind,
  parseName,
  type Route,
  WILDCARD,
} from '@measurement-exchange/contract';

/** A caller: a party of the exchange, or its operator. */
export interface Principal {
  kind: PrincipalKind;
  /** The party's ID; empty for the operator. */
  id: string;
  /** `dataProviders/x` …, or `operator`. */
  name: string;
}

export const OPERATOR: Principal = { kind: 'operator', id: '', name: 'operator' };

export const PARTY_KINDS = ['measurementConsumer', 'dataProvider', 'duchy'] as const;
export type PartyKind = (typeof PARTY_KINDS)[number];

/** Parses `dataProviders/x` or `operator`; undefined for anything else. */
export function parsePrincipal(name: string): Principal | undefined {
  if (name === OPERATOR.name) return OPERATOR;
  for (const kind of PARTY_KINDS) {
    const vars = parseName(kind, name) as Record<string, string> | undefined;
    if (vars !== undefined && vars[kind] !== WILDCARD) return { kind, id: vars[kind]!, name };
  }
  return undefined;
}

export function partyName(kind: PartyKind, id: string): string {
  return formatName(kind, { [kind]: id } as never);
}

/** Whether the principal may call this route with these IDs. */
export function may(principal: Principal, route: Route, params: Record<string, string>): boolean {
  const rule = route.access[principal.kind];
  if (rule === undefined) return false;
  const [owner, ...below] = Object.values(params);
  if (below.includes(WILDCARD)) return false;
  if (rule === 'own') return owner === principal.id;
  return rule === 'all' || owner !== WILDCARD;
}

/** The same error for existing and absent resources, so that it does not reveal which exist. */
export function authorize(principal: Principal, route: Route, params: Record<string, string>): void {
  if (may(principal, route, params)) return;
  throw new ExchangeError('PERMISSION_DENIED', `${principal.name} may not do this here.`);
}
