import { Doctor, ExchangeStatus } from '../codecs/exchangeStatus.ts';
import { PartyHealth } from '../codecs/partyHealth.ts';
import { AuditEntry, PrincipalBinding, PrincipalInput } from '../codecs/principal.ts';
import { WhoAmI } from '../codecs/timeline.ts';
import { TrustedRoot, TrustedRootInput } from '../codecs/trustedRoot.ts';
import * as s from '../json/schema.ts';
import { PATTERNS } from '../values/names.ts';
import * as row from './route.ts';

const access = { operator: 'any' } as const;

export const OPERATOR_ROUTES = [
  {
    ...row.READ,
    operation: 'whoAmI',
    path: 'whoami',
    access: row.EVERYBODY,
    response: WhoAmI,
    errors: [],
    summary: 'The principal that the bearer token stands for',
  },
  {
    ...row.CREATE,
    operation: 'createPrincipal',
    path: 'principals',
    access,
    body: row.created('principal', PrincipalInput, PrincipalBinding),
    response: PrincipalBinding,
    errors: [...row.PARTY_NOT_FOUND, 'PRINCIPAL_ALREADY_EXISTS'],
    summary: 'Bind a subject of an issuer to a party or to `operator`',
  },
  {
    ...row.LIST,
    operation: 'listPrincipals',
    path: 'principals',
    access,
    query: s.object({
      ...row.paging,
      'filter.resource': s.optional(s.text(100, 1), 'Only those bound to this party, or to `operator`.'),
    }),
    response: s.object({ principals: s.array(PrincipalBinding), nextPageToken: row.nextPageToken }),
    summary: 'List who is bound to what',
  },
  {
    ...row.DELETE,
    operation: 'deletePrincipal',
    path: PATTERNS.principal,
    access,
    response: PrincipalBinding,
    errors: ['PRINCIPAL_NOT_FOUND'],
    summary: 'Unbind a subject; returns what it was',
  },
  {
    ...row.CREATE,
    operation: 'createTrustedRoot',
    path: 'trustedRoots',
    access,
    body: row.created('trustedRoot', TrustedRootInput, TrustedRoot),
    response: TrustedRoot,
    errors: [...row.PARTY_NOT_FOUND, 'TRUSTED_ROOT_ALREADY_EXISTS'],
    summary: 'Trust a root certificate, for one party or for all',
  },
  {
    ...row.LIST,
    operation: 'listTrustedRoots',
    path: 'trustedRoots',
    access,
    response: s.object({ trustedRoots: s.array(TrustedRoot), nextPageToken: row.nextPageToken }),
    summary: 'List the trusted roots',
  },
  {
    ...row.DELETE,
    operation: 'deleteTrustedRoot',
    path: PATTERNS.trustedRoot,
    access,
    response: TrustedRoot,
    errors: ['TRUSTED_ROOT_NOT_FOUND'],
    summary: 'Stop trusting a root; returns what it was',
  },
  {
    ...row.LIST,
    operation: 'listPartyHealth',
    path: 'partyHealth',
    access,
    response: s.object({ partyHealth: s.array(PartyHealth), nextPageToken: row.nextPageToken }),
    summary:
      'List how all parties do, by name, at most 100 a page: last seen, certificate, open work, webhooks',
  },
  {
    ...row.READ,
    operation: 'getDoctor',
    path: 'doctor',
    access,
    response: Doctor,
    errors: [],
    summary: 'What the doctor found when it last looked through the database',
  },
  {
    ...row.ACT,
    operation: 'runDoctor',
    path: 'doctor',
    verb: 'run',
    access,
    body: row.NO_MESSAGE,
    response: Doctor,
    errors: [],
    summary:
      'Have the doctor look through the database, in the background; not while it does so, nor within a minute after',
  },
  {
    ...row.READ,
    operation: 'getExchangeStatus',
    path: 'exchangeStatus',
    access,
    response: ExchangeStatus,
    errors: [],
    summary: 'The versions of the replicas and of the database, and how much is open',
  },
  {
    ...row.LIST,
    operation: 'listAuditEntries',
    path: 'auditEntries',
    access,
    query: s.object({
      ...row.paging,
      'filter.name': s.optional(s.text(500, 1), 'Only those about this resource.'),
      orderBy: s.optional(s.enumOf(['time', 'time desc']), 'Oldest or latest first. Default: oldest first.'),
    }),
    response: s.object({ auditEntries: s.array(AuditEntry), nextPageToken: row.nextPageToken }),
    summary: 'List every mutation outside the transition log, oldest or latest first',
  },
] as const satisfies readonly row.Route[];
