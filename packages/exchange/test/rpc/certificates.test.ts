import {
  Certificates,
  Certificate_RevocationState as RevocationState,
} from '@measurement-exchange/contract/rpc';
import { newCertificate } from '@measurement-exchange/testkit/certificates';
import { UNLIMITED, useExchange } from '@measurement-exchange/testkit/exchange';
import { clientOf, failureOf } from '@measurement-exchange/testkit/rpc';
import { castOf, get } from '@measurement-exchange/testkit/steps';
import { expect, it } from 'vitest';

const exchange = useExchange({ rate: UNLIMITED });
const clientBy = ({ token }: { token: string }) => clientOf(exchange.dev, Certificates, { token });
const derOf = async () => new Uint8Array(Buffer.from((await newCertificate()).x509Der, 'base64'));

it('a certificate is registered, found by its key, put on hold, released and revoked', async () => {
  const { acme } = castOf(exchange);
  const client = clientBy(acme);
  const x509Der = await derOf();
  const made = await client.createCertificate({ parent: acme.name, certificate: { x509Der } });
  expect(made.name).toMatch(new RegExp(`^${acme.name}/certificates/[a-z0-9]+$`));
  expect(made.x509Der).toEqual(x509Der);
  expect(made.subjectKeyIdentifier).toHaveLength(20);
  expect(await client.getCertificate({ name: made.name })).toEqual(made);
  const read = await get(exchange, acme, made.name);
  expect(read.subjectKeyIdentifier).toBe(Buffer.from(made.subjectKeyIdentifier).toString('base64'));

  const filter = { subjectKeyIdentifiers: [made.subjectKeyIdentifier] };
  const listed = await client.listCertificates({ parent: acme.name, filter });
  expect(listed).toMatchObject({ certificates: [made], nextPageToken: '' });
  const page = await client.listCertificates({ parent: acme.name, pageSize: 1 });
  const next = await client.listCertificates({ parent: acme.name, pageToken: page.nextPageToken });
  expect(page.certificates).toHaveLength(1);
  expect(next.certificates).toContainEqual(made);

  const { name } = made;
  const held = await client.revokeCertificate({ name, revocationState: RevocationState.HOLD });
  expect(held.revocationState).toBe(RevocationState.HOLD);
  expect(await client.releaseCertificateHold({ name })).toEqual(made);
  await client.revokeCertificate({ name, revocationState: RevocationState.REVOKED });
  expect(await failureOf(client.releaseCertificateHold({ name }))).toBe(
    'failed_precondition CERTIFICATE_REVOCATION_STATE_ILLEGAL',
  );
  expect((await client.getCertificate({ name })).revocationState).toBe(RevocationState.REVOKED);
});

it('a consumer can get certificates of providers but not of other consumers, and vice versa', async () => {
  const { acme, globex, streamly, chirper } = castOf(exchange);
  for (const [reader, of] of [
    [acme, streamly],
    [streamly, acme],
  ] as const) {
    const preferred = await clientBy(reader).getCertificate({ name: `${of.name}/certificates/preferred` });
    expect(preferred.name).toBe(of.certificate);
  }
  const denied = 'permission_denied PERMISSION_DENIED';
  expect(await failureOf(clientBy(globex).getCertificate({ name: acme.certificate }))).toBe(denied);
  expect(await failureOf(clientBy(chirper).getCertificate({ name: streamly.certificate }))).toBe(denied);
  expect(await failureOf(clientBy(acme).listCertificates({ parent: streamly.name }))).toBe(denied);
});

it('an invalid request is rejected with the names of its protobuf fields', async () => {
  const { acme } = castOf(exchange);
  const client = clientBy(acme);
  const create = (x509Der: Uint8Array<ArrayBuffer>) =>
    failureOf(client.createCertificate({ parent: acme.name, certificate: { x509Der } }));
  expect(await create(new Uint8Array())).toMatch(/^invalid_argument \w+ certificate\.x509_der$/);
  expect(await create(Uint8Array.of(1))).toMatch(/^invalid_argument \w+ certificate\.x509_der$/);
  expect(await failureOf(client.createCertificate({ parent: acme.name }))).toMatch(
    /^invalid_argument \w+ certificate\.x509_der$/,
  );
  expect(await failureOf(client.revokeCertificate({ name: acme.certificate }))).toBe(
    'invalid_argument REQUIRED_FIELD_NOT_SET revocation_state',
  );
  expect(await failureOf(client.getCertificate({ name: `${acme.name}/certificates` }))).toBe(
    'invalid_argument MALFORMED_NAME name',
  );
  expect(await failureOf(client.getCertificate({ name: `${acme.name}/certificates/none` }))).toBe(
    'not_found CERTIFICATE_NOT_FOUND',
  );
});
