/** Certificates: registered, revoked and put on hold by their party, read by its counterparties. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Certificate,
  ExchangeError,
  equalBytes,
  PREFERRED,
  type RequestOf,
  type ResponseOf,
  toBase64,
} from '@measurement-exchange/contract';
import {
  type CertificateRecord,
  findObstacle,
  getCertificate as get,
  getPreferredCertificate,
  insertCertificate,
  listCertificates as list,
  lockCertificate,
  updateCertificate,
} from '../database/certificates.ts';
import type { Transaction } from '../database/db.ts';
import { partyExists } from '../database/parties.ts';
import { insertCascade, isCascading } from '../database/revocationCascades.ts';
import { rootsForParties } from '../database/trustedRoots.ts';
import { parsePrincipal } from '../domain/access.ts';
import { expiresIn, releaseHold, revoke } from '../domain/certificate.ts';
import { enforce } from '../domain/findings.ts';
import { partyNotFound } from '../domain/party.ts';
import { trustCheck } from '../domain/trust.ts';
import { readCertificate } from '../domain/x509.ts';
import { type Call, type Exchange, record } from './context.ts';
import { DEFAULT_PAGE_SIZE, type ListScope, MAX_PAGE_BYTES } from './paging.ts';
import { asValidated, viewCertificate } from './views.ts';

/** `dataProviders/x/certificates` or `dataProviders/x/certificates/y` to `dataProviders/x`. */
function partyOf(path: string): string {
  return path.split('/').slice(0, 2).join('/');
}

function found(certificate: CertificateRecord | undefined, name: string): CertificateRecord {
  if (certificate !== undefined) return certificate;
  const { kind } = parsePrincipal(partyOf(name))!;
  throw new ExchangeError('CERTIFICATE_NOT_FOUND', `${name} does not exist.`, {
    metadata: { [`${kind}Certificate`]: name },
  });
}

export async function getCertificate(
  x: Exchange,
  _call: Call,
  { params, path }: RequestOf<'getCertificate'>,
): Promise<Certificate> {
  const party = partyOf(path);
  const certificate =
    params.certificate === PREFERRED
      ? await getPreferredCertificate(x.db, party, x.clock())
      : await get(x.db, party, params.certificate);
  return viewCertificate(found(certificate, path));
}

export async function createCertificate(
  x: Exchange,
  call: Call,
  { path, body, validateOnly }: RequestOf<'createCertificate'>,
): Promise<Certificate> {
  const party = partyOf(path);
  const { x509Der, subjectKeyIdentifier, notBefore, notAfter } = readCertificate(body);
  return x.db.tx('createCertificate', async (tx) => {
    if (!(await partyExists(tx, party))) throw partyNotFound(party);
    const certificate: CertificateRecord = {
      party,
      id: x.newId(),
      x509Der,
      subjectKeyIdentifier,
      notBefore,
      notAfter,
      revocationState: undefined,
      version: 1,
      createTime: x.clock(),
    };
    const obstacle = await findObstacle(tx, certificate);
    if (obstacle !== undefined) throw alreadyExists(obstacle, certificate);
    const field = body.x509Der === undefined ? 'x509Pem' : 'x509Der';
    const trust = trustCheck(await rootsForParties(tx, [party]), certificate.createTime);
    call.findings = trust(field, certificate);
    if (!validateOnly) enforce(x.checks, call.findings);
    await insertCertificate(tx, certificate, certificate.createTime);
    if (validateOnly) {
      tx.rollback();
      return asValidated(viewCertificate(certificate), call.findings);
    }
    record(tx, call, 'createCertificate', madeOf(certificate, certificate.createTime));
    return viewCertificate(certificate);
  });
}

/** Another party's certificates are not named: whose key it is is none of the caller's business. */
function alreadyExists(obstacle: CertificateRecord, wanted: CertificateRecord): ExchangeError {
  if (!equalBytes(obstacle.x509Der, wanted.x509Der)) {
    return new ExchangeError(
      'CERT_SUBJECT_KEY_ID_ALREADY_EXISTS',
      'Another party has a certificate with this subject key identifier: use a key of your own.',
    );
  }
  const existing = obstacle.party === wanted.party ? viewCertificate(obstacle).name : undefined;
  return new ExchangeError('CERTIFICATE_ALREADY_EXISTS', 'This certificate is registered already.', {
    ...(existing && { metadata: { existing } }),
  });
}

export async function listCertificates(
  x: Exchange,
  _call: Call,
  { path, query }: RequestOf<'listCertificates'>,
): Promise<ResponseOf<'listCertificates'>> {
  const party = partyOf(path);
  const wanted = new Map(query['filter.subjectKeyIdentifiers']?.map((key) => [toBase64(key), key]));
  const keys = wanted.size > 0 ? [...wanted.values()] : undefined;
  const scope: ListScope = ['listCertificates', party, [...wanted.keys()].sort()];
  const after = x.pageTokens.read(scope, query.pageToken);
  const limit = query.pageSize ?? DEFAULT_PAGE_SIZE;
  const { items, more } = await list(x.db, party, keys, after, limit, MAX_PAGE_BYTES);
  if (items.length === 0 && !(await partyExists(x.db, party))) throw partyNotFound(party);
  const now = x.clock();
  const last = items.at(-1);
  return {
    certificates: items.map((c) => ({ ...viewCertificate(c), expiresIn: expiresIn(c, now) })),
    nextPageToken: more ? x.pageTokens.write(scope, { time: last!.createTime, id: last!.id }) : undefined,
  };
}

/** Counts for every create and fulfilment from the commit on; what rests on it is failed in the background. */
export async function revokeCertificate(
  x: Exchange,
  call: Call,
  request: RequestOf<'revokeCertificate'>,
): Promise<Certificate> {
  const { revocationState } = request.body;
  const revoked = await change(x, call, 'revokeCertificate', request, async (tx, before, now) => {
    const after = revoke(before, revocationState);
    if (after !== before) {
      const author = { actor: call.principal.name, requestId: call.requestId };
      insertCascade(tx, { party: after.party, certificate: after.id, revocationState, ...author }, now);
    }
    return after;
  });
  x.wake();
  return revoked;
}

/** Mostly the cascade ends within milliseconds: whoever releases at once is not sent away for that. */
const CASCADE_PATIENCE_MS = 2_000;
const LOOK_AGAIN_MS = 20;

export async function releaseCertificateHold(
  x: Exchange,
  call: Call,
  request: RequestOf<'releaseCertificateHold'>,
): Promise<Certificate> {
  const { certificate } = request.params;
  const until = performance.now() + CASCADE_PATIENCE_MS;
  while ((await isCascading(x.db, partyOf(request.path), certificate)) && performance.now() < until) {
    await sleep(LOOK_AGAIN_MS);
  }
  return change(x, call, 'releaseCertificateHold', request, async (tx, before) =>
    releaseHold(before, await isCascading(tx, before.party, before.id)),
  );
}

/** Locks, decides, and saves what changed. */
function change(
  x: Exchange,
  call: Call,
  operation: string,
  { params, path, validateOnly }: { params: { certificate: string }; path: string; validateOnly: boolean },
  decide: (tx: Transaction, before: CertificateRecord, now: string) => Promise<CertificateRecord>,
): Promise<Certificate> {
  return x.db.tx(operation, async (tx) => {
    const before = found(await lockCertificate(tx, partyOf(path), params.certificate), path);
    const now = x.clock();
    const after = await decide(tx, before, now);
    if (validateOnly) {
      tx.rollback();
      return asValidated(viewCertificate(after), call.findings);
    }
    if (after.version !== before.version) {
      updateCertificate(tx, after);
      record(tx, call, operation, madeOf(after, now));
    }
    return viewCertificate(after);
  });
}

function madeOf(certificate: CertificateRecord, time: string) {
  return { name: viewCertificate(certificate).name!, version: certificate.version, time };
}
