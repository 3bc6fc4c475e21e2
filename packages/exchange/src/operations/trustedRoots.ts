/** Roots against which the exchange checks the certificates of parties. */
import { X509Certificate } from 'node:crypto';
import {
  ExchangeError,
  invalid,
  type RequestOf,
  type ResponseOf,
  type TrustedRoot,
} from '@measurement-exchange/contract';
import { uniqueViolation } from '../database/db.ts';
import { partyExists } from '../database/parties.ts';
import {
  findTrustedRoot,
  insertTrustedRoot,
  listTrustedRoots as list,
  deleteTrustedRoot as remove,
  type TrustedRootRecord,
} from '../database/trustedRoots.ts';
import { partyNotFound } from '../domain/party.ts';
import { readCertificate } from '../domain/x509.ts';
import { type Call, type Exchange, record } from './context.ts';
import { DEFAULT_PAGE_SIZE, type ListScope } from './paging.ts';
import { asValidated } from './views.ts';

function nameOf({ id }: Pick<TrustedRootRecord, 'id'>): string {
  return `trustedRoots/${id}`;
}

function view({ id, ...root }: TrustedRootRecord): TrustedRoot {
  return { name: nameOf({ id }), ...root };
}

function isRoot(der: Uint8Array): boolean {
  const root = new X509Certificate(der);
  return root.ca && root.checkIssued(root) && root.verify(root.publicKey);
}

export async function createTrustedRoot(
  x: Exchange,
  call: Call,
  { body, validateOnly }: RequestOf<'createTrustedRoot'>,
): Promise<TrustedRoot> {
  const certificate = readCertificate(body);
  if (!isRoot(certificate.x509Der)) {
    const field = body.x509Der === undefined ? 'x509Pem' : 'x509Der';
    throw invalid([{ field, description: 'must be a self-signed certificate of an authority' }]);
  }
  const root: TrustedRootRecord = {
    id: x.newId(),
    party: body.party,
    x509Der: certificate.x509Der,
    subjectKeyIdentifier: certificate.subjectKeyIdentifier,
    notBefore: certificate.notBefore,
    notAfter: certificate.notAfter,
    createTime: x.clock(),
  };
  try {
    return await x.db.tx('createTrustedRoot', async (tx) => {
      if (body.party !== undefined && !(await partyExists(tx, body.party))) throw partyNotFound(body.party);
      await insertTrustedRoot(tx, root);
      if (validateOnly) {
        tx.rollback();
        return asValidated(view(root), []);
      }
      record(tx, call, 'createTrustedRoot', { name: nameOf(root), version: 1, time: root.createTime });
      return view(root);
    });
  } catch (error) {
    if (uniqueViolation(error) !== 'trusted_roots_der') throw error;
    const existing = await findTrustedRoot(x.db, root);
    throw new ExchangeError('TRUSTED_ROOT_ALREADY_EXISTS', 'This root is trusted already.', {
      metadata: existing ? { existing: `trustedRoots/${existing.id}` } : {},
    });
  }
}

export async function listTrustedRoots(
  x: Exchange,
  _call: Call,
  { query }: RequestOf<'listTrustedRoots'>,
): Promise<ResponseOf<'listTrustedRoots'>> {
  const scope: ListScope = ['listTrustedRoots', ''];
  const after = x.pageTokens.read(scope, query.pageToken);
  const { items, more } = await list(x.db, after, query.pageSize ?? DEFAULT_PAGE_SIZE);
  const last = items.at(-1);
  return {
    trustedRoots: items.map(view),
    nextPageToken: more ? x.pageTokens.write(scope, { time: last!.createTime, id: last!.id }) : undefined,
  };
}

export async function deleteTrustedRoot(
  x: Exchange,
  call: Call,
  { params, validateOnly }: RequestOf<'deleteTrustedRoot'>,
): Promise<TrustedRoot> {
  return x.db.tx('deleteTrustedRoot', async (tx) => {
    const root = await remove(tx, params.trustedRoot);
    if (root === undefined) {
      const name = `trustedRoots/${params.trustedRoot}`;
      throw new ExchangeError('TRUSTED_ROOT_NOT_FOUND', `${name} does not exist.`, {
        metadata: { trustedRoot: name },
      });
    }
    if (validateOnly) {
      tx.rollback();
      return asValidated(view(root), []);
    }
    record(tx, call, 'deleteTrustedRoot', { name: nameOf(root), version: 1, time: x.clock() });
    return view(root);
  });
}
