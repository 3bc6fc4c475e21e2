/**
 * Implements the Certificates service: gets, creates, lists, and revokes certificates of parties, and releases holds.
 */
import { create } from '@bufbuild/protobuf';
import type { ServiceImpl } from '@connectrpc/connect';
import type { Certificate as CertificateResource } from '@measurement-exchange/contract';
import {
  type Certificate,
  Certificate_RevocationState,
  Certificate_RevocationStateSchema,
  CertificateSchema,
  type Certificates,
  ListCertificatesResponseSchema,
} from '@measurement-exchange/contract/rpc';
import type { Api } from './api.ts';
import { certificateIdsIn, partyIdsIn } from './names.ts';
import { enumName, given } from './values.ts';

export function certificates(api: Api): Partial<ServiceImpl<typeof Certificates>> {
  return {
    getCertificate: api.unary(async ({ name }, call) =>
      toCertificate(await call.run('getCertificate', certificateIdsIn(name))),
    ),

    createCertificate: api.unary(async ({ parent, certificate }, call) => {
      const body = certificate && { x509Der: given(certificate.x509Der) };
      const request = { body: body ?? { x509Der: undefined }, within: 'certificate' };
      return toCertificate(await call.run('createCertificate', partyIdsIn(parent, 'parent'), request));
    }),

    listCertificates: api.unary(async ({ parent, pageSize, pageToken, filter }, call) => {
      const keys = filter?.subjectKeyIdentifiers ?? [];
      const query = {
        pageSize,
        pageToken: given(pageToken),
        'filter.subjectKeyIdentifiers': keys.length > 0 ? keys : undefined,
      };
      return call.runPage(
        'listCertificates',
        partyIdsIn(parent, 'parent'),
        { query },
        (page) =>
          create(ListCertificatesResponseSchema, {
            certificates: page.certificates.map(toCertificate),
            nextPageToken: page.nextPageToken ?? '',
          }),
        (page) => page.certificates,
      );
    }),

    revokeCertificate: api.unary(async ({ name, revocationState }, call) => {
      const body = { revocationState: enumName(Certificate_RevocationStateSchema, revocationState) };
      return toCertificate(await call.run('revokeCertificate', certificateIdsIn(name), { body }));
    }),

    releaseCertificateHold: api.unary(async ({ name }, call) =>
      toCertificate(await call.run('releaseCertificateHold', certificateIdsIn(name))),
    ),
  };
}

function toCertificate(certificate: CertificateResource): Certificate {
  const { name, x509Der, subjectKeyIdentifier, revocationState: state } = certificate;
  return create(CertificateSchema, {
    name,
    x509Der,
    subjectKeyIdentifier,
    ...(state !== undefined && { revocationState: Certificate_RevocationState[state] }),
  });
}
