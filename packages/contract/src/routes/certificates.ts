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
const list = {
  query: s.object({
    ...row.paging,
    'filter.subjectKeyIdentifiers': s.optional(
      s.array(s.bytes({ min: 1 })),
      'Only those with any of these key identifiers; repeat the parameter.',
    ),
  }),
  response: s.object({ certificates: s.array(Certificate), nextPageToken: row.nextPageToken }),
};
const act = {
  ...row.ACT,
  response: Certificate,
  errors: ['CERTIFICATE_NOT_FOUND', 'CERTIFICATE_REVOCATION_STATE_ILLEGAL'],
} as const;

const operator = { operator: 'any' } as const;

/**
 * The routes for certificates. Every caller may get a certificate by its name, to verify signatures. There are two
 * exceptions: a consumer may not get another consumer's certificates, and a provider may not get another provider's
 * certificates. Only the party itself and the operator may list or change a party's certificates.
 */
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
    ...row.CREATE,
    operation: 'createCertificate',
    access: { ...own, ...operator },
    body: row.created('certificate', CertificateInput, Certificate),
    response: Certificate,
    errors: [notFound, 'CERTIFICATE_ALREADY_EXISTS', 'CHECK_FAILED'],
    summary: 'Register a certificate',
  })),
  ...row.ofEachParty('certificates', ({ own, notFound }) => ({
    ...row.LIST,
    ...list,
    operation: 'listCertificates',
    access: { ...own, ...operator },
    errors: [notFound],
    summary: 'List the certificates of a party; those that expire within 30 days say so',
  })),
  ...row.ofEachParty('certificates/{certificate}', ({ own }) => ({
    ...act,
    operation: 'revokeCertificate',
    verb: 'revoke',
    access: { ...own, ...operator },
    body: row.message(RevokeRequest),
    summary: 'Revoke a certificate or put it on hold, which fails the measurements that depend on it',
  })),
  ...row.ofEachParty('certificates/{certificate}', ({ own }) => ({
    ...act,
    operation: 'releaseCertificateHold',
    verb: 'releaseHold',
    access: { ...own, ...operator },
    body: row.NO_MESSAGE,
    summary: 'Release the hold on a certificate',
  })),
] as const satisfies readonly row.Route[];
