import { Certificate, CertificateInput, RevokeRequest } from '../codecs/certificate.ts';
import * as s from '../json/schema.ts';
import { PATTERNS } from '../values/names.ts';
import * as row from './route.ts';

const get = {
  ...row.READ,
  operation: 'getCertificate',
  response: Certificate,
  errors: ['CERTIFICATE_NOT_FOUND'],
} as const;
const create = {
  ...row.CREATE,
  operation: 'createCertificate',
  body: row.created('certificate', CertificateInput, Certificate),
  response: Certificate,
  summary: 'Register a certificate',
} as const;
const list = {
  ...row.LIST,
  operation: 'listCertificates',
  query: s.object({
    ...row.paging,
    'filter.subjectKeyIdentifiers': s.optional(
      s.array(s.bytes({ min: 1 })),
      'Only those with any of these key identifiers; repeat the parameter.',
    ),
  }),
  response: s.object({ certificates: s.array(Certificate), nextPageToken: row.nextPageToken }),
  summary: 'List the certificates of a party; those that expire within 30 days say so',
} as const;
const act = {
  ...row.ACT,
  response: Certificate,
  errors: ['CERTIFICATE_NOT_FOUND', 'CERTIFICATE_REVOCATION_STATE_ILLEGAL'],
} as const;
const revoke = {
  ...act,
  operation: 'revokeCertificate',
  verb: 'revoke',
  body: row.message(RevokeRequest),
  summary: 'Revoke a certificate or put it on hold, which fails the measurements that rest on it',
} as const;
const releaseHold = {
  ...act,
  operation: 'releaseCertificateHold',
  verb: 'releaseHold',
  body: row.NO_MESSAGE,
  summary: 'Release the hold on a certificate',
} as const;

const operator = { operator: 'any' } as const;

/** Counterparties read each other's certificates to check signatures; competitors do not. */
export const CERTIFICATE_ROUTES = [
  {
    ...get,
    path: PATTERNS.measurementConsumerCertificate,
    access: { ...row.EVERYBODY, measurementConsumer: 'own' },
    summary: 'Read a certificate of a measurement consumer (`preferred` for its best one)',
  },
  {
    ...get,
    path: PATTERNS.dataProviderCertificate,
    access: { ...row.EVERYBODY, dataProvider: 'own' },
    summary: 'Read a certificate of a data provider (`preferred` for its best one)',
  },
  {
    ...get,
    path: PATTERNS.duchyCertificate,
    access: row.EVERYBODY,
    summary: 'Read a certificate of a duchy (`preferred` for its best one)',
  },
  ...row.ofEachParty('certificates', ({ own, notFound }) => ({
    ...create,
    access: { ...own, ...operator },
    errors: [notFound, 'CERTIFICATE_ALREADY_EXISTS', 'CHECK_FAILED'],
  })),
  ...row.ofEachParty('certificates', ({ own, notFound }) => ({
    ...list,
    access: { ...own, ...operator },
    errors: [notFound],
  })),
  ...row.ofEachParty('certificates/{certificate}', ({ own }) => ({
    ...revoke,
    access: { ...own, ...operator },
  })),
  ...row.ofEachParty('certificates/{certificate}', ({ own }) => ({
    ...releaseHold,
    access: { ...own, ...operator },
  })),
] as const satisfies readonly row.Route[];
