/** All reports of a consumer, newest first. */
import type { Report } from '@measurement-exchange/contract';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { count, dateRange, moment } from '../../format.ts';
import { usePages } from '../../live/usePages.ts';
import { A } from '../../parts/A.tsx';
import { Icon } from '../../parts/Icon.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { PublisherTags } from '../../parts/Publisher.tsx';
import { Empty, ErrorNote, Skeleton } from '../../parts/states.tsx';
import { VirtualTable } from '../../parts/VirtualTable.tsx';
import { idOf } from '../../session/roles.ts';
import { useSession } from '../../session/session.ts';
import { ReportChip } from './ReportChip.tsx';

const PAGE_SIZE = 100;

export default function Reports() {
  const list = usePages('reports', ['list'], async ({ client, principal }, { pageToken, signal }) => {
    const page = await client
      .listReports({ parent: principal, pageSize: PAGE_SIZE, ...(pageToken && { pageToken }), signal })
      .page();
    return { rows: page.reports, nextPageToken: page.nextPageToken };
  });
  const { rows, error } = list;
  return (
    <>
      <PageHead
        title="Reports"
        meta={['Newest first', ...(rows && rows.length > 0 ? [`${count(rows.length)} here`] : [])]}
        actions={<NewReportLink />}
      />
      {error && rows && <ErrorNote error={error} retry={list.readAgain} />}
      <div className="card">
        {rows === undefined && (
          <div className="in-card">
            {error ? <ErrorNote error={error} retry={list.readAgain} /> : <Skeleton rows={6} />}
          </div>
        )}
        {rows?.length === 0 && <NoReports />}
        {rows && rows.length > 0 && (
          <VirtualTable
            className="rows"
            head={HEAD}
            rows={rows}
            keyOf={({ name }) => name!}
            onNearEnd={list.isComplete ? undefined : list.readMore}
          >
            {(report) => <Cells report={report} names={rows.map(({ name }) => name!)} />}
          </VirtualTable>
        )}
      </div>
    </>
  );
}

const HEAD = (
  <>
    <th scope="col">Report</th>
    <th scope="col">State</th>
    <th scope="col">Days</th>
    <th scope="col">Publishers</th>
    <th scope="col">Measurements</th>
    <th scope="col">Asked</th>
  </>
);

function Cells({ report, names }: { report: Report; names: readonly string[] }) {
  const { name = '', state, measurements = [], createTime } = report;
  const definition = useDefinition(name, names);
  const { title, interval, segments = {} } = definition ?? {};
  const publishers = new Set(
    Object.values(segments).flatMap(({ eventGroups }) =>
      eventGroups.map((group) => group.split('/').slice(0, 2).join('/')),
    ),
  );
  // Count each measurement once. `measurements` contains a measurement more than once if several parts of the report
  // need it.
  const asked = new Set(measurements.map(({ measurement }) => measurement));
  return (
    <>
      <td>
        <A to={`/reports/${idOf(name)}`}>
          <bdi>{title ?? report.title ?? idOf(name)}</bdi>
        </A>
      </td>
      <td data-l="State">
        <ReportChip state={state} />
      </td>
      <td data-l="Days">{interval && dateRange(interval.start, interval.end)}</td>
      <td data-l="Publishers">{publishers.size > 0 && <PublisherTags names={[...publishers]} />}</td>
      <td data-l="Measurements">{count(asked.size)}</td>
      <td data-l="Asked">{createTime && moment(createTime)}</td>
    </>
  );
}

const AT_ONCE = 100;

/** Reads the definition of a report. The same call decrypts the definitions of up to 100 neighboring reports. */
function useDefinition(name: string, names: readonly string[]) {
  const { companion, principal } = useSession();
  const at = Math.floor(names.indexOf(name) / AT_ONCE) * AT_ONCE;
  const chunk = names.slice(at, at + AT_ONCE);
  const { data } = useQuery(
    queryOptions({
      queryKey: ['report definitions', principal, ...chunk],
      queryFn: ({ signal }) => companion!.reportDefinitions({ names: chunk }, { signal }),
      enabled: companion !== undefined && at >= 0,
      staleTime: Number.POSITIVE_INFINITY,
    }),
  );
  return data?.[name]?.definition;
}

function NoReports() {
  return (
    <Empty title="No report yet">
      <p>
        One question about a campaign: how many people, how often, who overlaps, week by week. You see the
        cost and the expected error before anything is sent.
      </p>
      <NewReportLink />
    </Empty>
  );
}

function NewReportLink() {
  return (
    <A className="btn main" to="/reports/new" data-key="R">
      <Icon name="plus" /> New report <kbd>R</kbd>
    </A>
  );
}
