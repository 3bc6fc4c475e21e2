import { AuditEntry, PrincipalBinding, PrincipalInput } from '../codecs/principal.ts';
import { WhoAmI } from '../codecs/timeline.ts';
import { TrustedRoot, TrustedRootInput } from '../codecs/trustedRoot.ts';
import * as s from '../json/schema.ts';
import { PATTERNS } from '../values/names.ts';
import { EVERYBODY, nextPageToken, noQuery, paging, type Route } from './route.ts';

const operator = { operator: 'any' } as const;
const PARTY_NOT_FOUND = [
  'MEASUREMENT_CONSUMER_NOT_FOUND',
  'DATA_PROVIDER_NOT_FOUND',
  'DUCHY_NOT_FOUND',
] as const;

export const OPERATOR_ROUTES = [
  {
    operation: 'whoAmI',
    method: 'GET',
    path: 'whoami',
    access: EVERYBODY,
    query: noQuery,
    response: WhoAmI,
    errors: [],
    summary: 'The principal that the bearer token stands for',
  },
  {
    operation: 'createPrincipal',
    method: 'POST',
    path: 'principals',
    access: operator,
    mutates: true,
    query: noQuery,
    body: {
      form: 'resource',
      schema: PrincipalInput,
      resource: PrincipalBinding,
      member: 'principal',
      create: true,
    },
    response: PrincipalBinding,
    errors: [...PARTY_NOT_FOUND, 'PRINCIPAL_ALREADY_EXISTS'],
    summary: 'Bind a subject of an issuer to a party or to `operator`',
  },
  {
    operation: 'listPrincipals',
    method: 'GET',
    path: 'principals',
    access: operator,
    query: s.object({
      ...paging,
      'filter.resource': s.optional(s.text(100, 1), 'Only those bound to this party, or to `operator`.'),
    }),
    response: s.object({ principals: s.array(PrincipalBinding), nextPageToken }),
    errors: [],
    summary: 'List who is bound to what',
  },
  {
    operation: 'deletePrincipal',
    method: 'DELETE',
    path: PATTERNS.principal,
    access: operator,
    mutates: true,
    query: noQuery,
    response: PrincipalBinding,
    errors: ['PRINCIPAL_NOT_FOUND'],
    summary: 'Unbind a subject; returns what it was',
  },
  {
    operation: 'createTrustedRoot',
    method: 'POST',
    path: 'trustedRoots',
    access: operator,
    mutates: true,
    query: noQuery,
    body: {
      form: 'resource',
      schema: TrustedRootInput,
      resource: TrustedRoot,
      member: 'trustedRoot',
      create: true,
    },
    response: TrustedRoot,
    errors: [...PARTY_NOT_FOUND, 'TRUSTED_ROOT_ALREADY_EXISTS'],
    summary: 'Trust a root certificate, for one party or for all',
  },
  {
    operation: 'listTrustedRoots',
    method: 'GET',
    path: 'trustedRoots',
    access: operator,
    query: s.object(paging),
    response: s.object({ trustedRoots: s.array(TrustedRoot), nextPageToken }),
    errors: [],
    summary: 'List the trusted roots',
  },
  {
    operation: 'deleteTrustedRoot',
    method: 'DELETE',
    path: PATTERNS.trustedRoot,
    access: operator,
    mutates: true,
    query: noQuery,
    response: TrustedRoot,
    errors: ['TRUSTED_ROOT_NOT_FOUND'],
    summary: 'Stop trusting a root; returns what it was',
  },
  {
    operation: 'listAuditEntries',
    method: 'GET',
    path: 'auditEntries',
    access: operator,
    query: s.object({
      ...paging,
      'filter.name': s.optional(s.text(500, 1), 'Only those about this resource.'),
    }),
    response: s.object({ auditEntries: s.array(AuditEntry), nextPageToken }),
    errors: [],
    summary: 'List every mutation outside the transition log, oldest first',
  },
] as const satisfies readonly Route[];
