/**
 * The audit log: changes with their authors and times, latest first. Changes of measurements are in timelines instead.
 */
import type { AuditEntry } from '@measurement-exchange/contract';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useDeferredValue, useEffect } from 'react';
import { count } from '../../../format.ts';
import { PageHead } from '../../../parts/PageHead.tsx';
import { Empty, ErrorNote, Skeleton } from '../../../parts/states.tsx';
import { type Filters, useFilters } from '../../../parts/useFilters.ts';
import { useSession } from '../../../session/session.ts';
import { EVERY, useDisplayNames, WHOLE_LIST } from '../data.ts';
import '../operator.css';
import { AuditRows } from './AuditRows.tsx';
import { auditWords } from './words.ts';

export default function Audit() {
  const filters = useFilters();
  const log = useAuditLog(useDeferredValue(filters.get('name').trim()));
  const entries = log.data?.pages.flatMap(({ auditEntries }) => auditEntries) ?? [];
  const [who, what] = [filters.get('who'), filters.get('what')];
  const found = entries.filter(
    (entry) => (who === '' || entry.principal === who) && (what === '' || entry.operation === what),
  );
  const isFiltered = who !== '' || what !== '';
  // Read more pages until the filtered rows fill a screen, because the exchange cannot filter by author or operation.
  const readsOn = isFiltered && found.length < 50 && log.hasNextPage && !log.isFetching && !log.isError;
  useEffect(() => {
    if (readsOn) void log.fetchNextPage();
  }, [readsOn, log.fetchNextPage]);
  return (
    <>
      <PageHead
        title="Audit log"
        meta={['Every change of parties, certificates, sign-ins, roots and event groups']}
      />
      <section className="card">
        <header className="filters">
          <AuditFilters filters={filters} entries={entries} />
        </header>
        {log.error && <ErrorNote error={log.error} retry={() => void log.refetch()} />}
        {log.isPending && <Skeleton />}
        {log.data && found.length === 0 && !log.isFetching && (
          <Empty title={entries.length === 0 ? 'No changes yet' : 'No change matches'} />
        )}
        {found.length > 0 && (
          <AuditRows
            entries={found}
            onEnd={() => log.hasNextPage && !log.isFetching && void log.fetchNextPage()}
          />
        )}
        <footer>
          <span role="status">
            {count(found.length)}
            {isFiltered ? ` of ${count(entries.length)}` : ''} {entries.length === 1 ? 'change' : 'changes'}
            {log.hasNextPage ? ', more below' : ''}
          </span>
          <span>Measurements have a timeline of their own</span>
        </footer>
      </section>
    </>
  );
}

/** Reads the audit log page by page. The exchange can filter the log only by the resource's name. */
function useAuditLog(name: string) {
  const { client, principal } = useSession();
  return useInfiniteQuery({
    queryKey: [principal, 'auditEntries', 'log', name],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      client
        .listAuditEntries({
          ...WHOLE_LIST,
          orderBy: 'time desc',
          signal,
          ...(name !== '' && { 'filter.name': name }),
          ...(pageParam !== undefined && { pageToken: pageParam }),
        })
        .page(),
    getNextPageParam: ({ nextPageToken }) => nextPageToken,
    // Do not poll once further pages are loaded, because every page would be read again while the user scrolls.
    refetchInterval: ({ state }) =>
      state.data && state.data.pages.length > 1 ? false : EVERY.refetchInterval,
  });
}

function AuditFilters({ filters, entries }: { filters: Filters; entries: readonly AuditEntry[] }) {
  const nameOf = useDisplayNames();
  const distinct = (values: string[], chosen: string) =>
    [...new Set([...values, chosen])].filter(Boolean).sort();
  const principals = distinct(
    entries.map(({ principal }) => principal),
    filters.get('who'),
  );
  const operations = distinct(
    entries.map(({ operation }) => operation),
    filters.get('what'),
  );
  return (
    <>
      <div className="field">
        <label htmlFor="audit-who">By</label>
        <select
          className="in"
          id="audit-who"
          value={filters.get('who')}
          onChange={(event) => filters.set({ who: event.target.value })}
        >
          <option value="">Anybody</option>
          {principals.map((principal) => (
            <option key={principal} value={principal}>
              {nameOf(principal)}
            </option>
          ))}
        </select>
      </div>
      <div className="field">
        <label htmlFor="audit-what">Change</label>
        <select
          className="in"
          id="audit-what"
          value={filters.get('what')}
          onChange={(event) => filters.set({ what: event.target.value })}
        >
          <option value="">Any</option>
          {operations.map((operation) => (
            <option key={operation} value={operation}>
              {auditWords(operation)}
            </option>
          ))}
        </select>
      </div>
      <div className="field grow">
        <label htmlFor="audit-name">Resource</label>
        <input
          className="in mono"
          id="audit-name"
          value={filters.get('name')}
          placeholder="dataProviders/streamly"
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => filters.set({ name: event.target.value })}
        />
      </div>
    </>
  );
}
