import { type RequestOf, type ResponseOf, toBase64 } from '@measurement-exchange/contract';
import { listCertificates as list } from '../../database/certificates.ts';
import { partyExists } from '../../database/parties.ts';
import { expiresIn } from '../../domain/certificate.ts';
import { partyNotFound } from '../../domain/party.ts';
import type { Call, Exchange } from '../context.ts';
import { DEFAULT_PAGE_SIZE, type ListScope, MAX_PAGE_BYTES } from '../paging.ts';
import { partyOf, viewCertificate } from './view.ts';

export async function listCertificates(
  exchange: Exchange,
  _call: Call,
  { path, query }: RequestOf<'listCertificates'>,
): Promise<ResponseOf<'listCertificates'>> {
  const party = partyOf(path);
  const wanted = new Map(query['filter.subjectKeyIdentifiers']?.map((key) => [toBase64(key), key]));
  const keys = wanted.size > 0 ? [...wanted.values()] : undefined;
  const scope: ListScope = ['listCertificates', party, [...wanted.keys()].sort()];
  const after = exchange.pageTokens.read(scope, query.pageToken);
  const limit = query.pageSize ?? DEFAULT_PAGE_SIZE;
  const { items, more } = await list(exchange.db, party, keys, after, limit, MAX_PAGE_BYTES);
  if (items.length === 0 && !(await partyExists(exchange.db, party))) throw partyNotFound(party);
  const now = exchange.clock();
  const last = items.at(-1);
  return {
    certificates: items.map((c) => ({ ...viewCertificate(c), expiresIn: expiresIn(c, now) })),
    nextPageToken: more
      ? exchange.pageTokens.write(scope, { time: last!.createTime, id: last!.id })
      : undefined,
  };
}
