import { toBase64 } from '@measurement-exchange/contract';
import { listCertificates as list } from '../../database/certificates.ts';
import { partyExists } from '../../database/parties.ts';
import { partyOf } from '../../domain/access.ts';
import { expiresIn } from '../../domain/certificate.ts';
import { partyNotFound } from '../../domain/party.ts';
import type { Handler } from '../context.ts';
import { byCreation, MAX_PAGE_BYTES } from '../paging.ts';
import { viewCertificate } from './view.ts';

export const listCertificates: Handler<'listCertificates'> = async (exchange, _call, { path, query }) => {
  const party = partyOf(path);
  const wanted = new Map(query['filter.subjectKeyIdentifiers']?.map((key) => [toBase64(key), key]));
  const keys = wanted.size > 0 ? [...wanted.values()] : undefined;
  const page = exchange.pageTokens.page(['listCertificates', party, [...wanted.keys()].sort()], query);
  const { items, more } = await list(exchange.db, keys, party, page.after, page.limit, MAX_PAGE_BYTES);
  if (items.length === 0 && !(await partyExists(exchange.db, party))) throw partyNotFound(party);
  const now = exchange.clock();
  return {
    certificates: items.map((c) => ({ ...viewCertificate(c), expiresIn: expiresIn(c, now) })),
    nextPageToken: page.next(more, items, byCreation),
  };
};
