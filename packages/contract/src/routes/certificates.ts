import { Certificate, CertificateInput, RevokeRequest } from '../codecs/certificate.ts';
import * as s from '../json/schema.ts';
import { PATTERNS } from '../values/names.ts';
import { type Access, EVERYBODY, nextPageToken, noQuery, paging, type Route } from './route.ts';

const get = {
  operation: 'getCertificate',
  method: 'GET',
  query: noQuery,
  response: Certificate,
  errors: ['CERTIFICATE_NOT_FOUND'],
} as const;
const create = {
  operation: 'createCertificate',
  method: 'POST',
  mutates: true,
  query: noQuery,
  body: {
    form: 'resource',
    schema: CertificateInput,
    resource: Certificate,
    member: 'certificate',
    create: true,
  },
  response: Certificate,
  summary: 'Register a certificate',
} as const;
const list = {
  operation: 'listCertificates',
  method: 'GET',
  query: s.object({
    ...paging,
    'filter.subjectKeyIdentifiers': s.optional(
      s.array(s.bytes({ min: 1 })),
      'Only those with any of these key identifiers; repeat the parameter.',
    ),
  }),
  response: s.object({ certificates: s.array(Certificate), nextPageToken }),
  summary: 'List the certificates of a party; those that expire within 30 days say so',
} as const;
const revoke = {
  operation: 'revokeCertificate',
  method: 'POST',
  verb: 'revoke',
  mutates: true,
  query: noQuery,
  body: { form: 'message', schema: RevokeRequest, also: 'name' },
  response: Certificate,
  errors: ['CERTIFICATE_NOT_FOUND', 'CERTIFICATE_REVOCATION_STATE_ILLEGAL'],
  summary: 'Revoke a certificate or put it on hold, which fails the measurements that rest on it',
} as const;
const releaseHold = {
  operation: 'releaseCertificateHold',
  method: 'POST',
  verb: 'releaseHold',
  mutates: true,
  query: noQuery,
  body: { form: 'message', schema: s.object({}), also: 'name' },
  response: Certificate,
  errors: ['CERTIFICATE_NOT_FOUND', 'CERTIFICATE_REVOCATION_STATE_ILLEGAL'],
  summary: 'Release the hold on a certificate',
} as const;

const createErrors = ['CERTIFICATE_ALREADY_EXISTS', 'CHECK_FAILED'] as const;
const CONSUMER = 'MEASUREMENT_CONSUMER_NOT_FOUND';
const PROVIDER = 'DATA_PROVIDER_NOT_FOUND';
const DUCHY = 'DUCHY_NOT_FOUND';

const ofConsumer = { measurementConsumer: 'own', operator: 'any' } as const satisfies Access;
const ofProvider = { dataProvider: 'own', operator: 'any' } as const satisfies Access;
const ofDuchy = { duchy: 'own', operator: 'any' } as const satisfies Access;

const consumer = PATTERNS.measurementConsumerCertificate;
const provider = PATTERNS.dataProviderCertificate;
const duchy = PATTERNS.duchyCertificate;
const consumers = 'measurementConsumers/{measurementConsumer}/certificates' as const;
const providers = 'dataProviders/{dataProvider}/certificates' as const;
const duchies = 'duchies/{duchy}/certificates' as const;

/** Counterparties read each other's certificates to check signatures; competitors do not. */
export const CERTIFICATE_ROUTES = [
  {
    ...get,
    path: consumer,
    access: { ...EVERYBODY, measurementConsumer: 'own' },
    summary: 'Read a certificate of a measurement consumer (`preferred` for its best one)',
  },
  {
    ...get,
    path: provider,
    access: { ...EVERYBODY, dataProvider: 'own' },
    summary: 'Read a certificate of a data provider (`preferred` for its best one)',
  },
  {
    ...get,
    path: duchy,
    access: EVERYBODY,
    summary: 'Read a certificate of a duchy (`preferred` for its best one)',
  },
  { ...create, path: consumers, access: ofConsumer, errors: [CONSUMER, ...createErrors] },
  { ...create, path: providers, access: ofProvider, errors: [PROVIDER, ...createErrors] },
  { ...create, path: duchies, access: ofDuchy, errors: [DUCHY, ...createErrors] },
  { ...list, path: consumers, access: ofConsumer, errors: [CONSUMER] },
  { ...list, path: providers, access: ofProvider, errors: [PROVIDER] },
  { ...list, path: duchies, access: ofDuchy, errors: [DUCHY] },
  { ...revoke, path: consumer, access: ofConsumer },
  { ...revoke, path: provider, access: ofProvider },
  { ...revoke, path: duchy, access: ofDuchy },
  { ...releaseHold, path: consumer, access: ofConsumer },
  { ...releaseHold, path: provider, access: ofProvider },
  { ...releaseHold, path: duchy, access: ofDuchy },
] as const satisfies readonly Route[];
