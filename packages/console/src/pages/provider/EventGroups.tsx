/** The event groups that the publisher has described to advertisers. */

import type { EventGroup } from '@measurement-exchange/contract';
import { useSearch } from '@tanstack/react-router';
import { day } from '../../format.ts';
import { usePages } from '../../live/usePages.ts';
import { A } from '../../parts/A.tsx';
import { Chip } from '../../parts/Chip.tsx';
import { MEDIA_WORDS } from '../../parts/eventGroupWords.ts';
import { Icon } from '../../parts/Icon.tsx';
import { partyName } from '../../parts/names.ts';
import { PageHead } from '../../parts/PageHead.tsx';
import { RowList } from '../../parts/RowList.tsx';
import { Segment } from '../../parts/Segment.tsx';
import { Empty } from '../../parts/states.tsx';
import { VirtualTable } from '../../parts/VirtualTable.tsx';
import { idOf } from '../../session/roles.ts';
import { campaignOf } from './eventGroups.ts';

const PAGE_SIZE = 100;

export default function EventGroups() {
  const { deleted } = useSearch({ strict: false }) as { deleted?: string };
  const showDeleted = deleted === 'too';
  const pages = usePages('eventGroups', [showDeleted], async ({ client, principal }, page) => {
    const listing = client.listEventGroups({ parent: principal, pageSize: PAGE_SIZE, showDeleted, ...page });
    const { eventGroups, nextPageToken } = await listing.page();
    return { rows: eventGroups, nextPageToken };
  });
  return (
    <>
      <PageHead
        title="Event groups"
        meta={[
          'What advertisers can ask about',
          <A key="schemas" to="/schemas">
            Schemas of their metadata
          </A>,
        ]}
        actions={
          <A className="btn main" to="/event-groups/new">
            <Icon name="plus" /> Describe an event group
          </A>
        }
      />
      <section className="card">
        <header>
          <h2>Oldest first</h2>
          <Segment
            label="Which"
            options={[
              { to: '/event-groups', text: 'Active', current: !showDeleted },
              { to: '/event-groups?deleted=too', text: 'With deleted', current: showDeleted },
            ]}
          />
        </header>
        <RowList
          pages={pages}
          empty={
            <Empty title="No event group yet">
              <p>
                Describe one to an advertiser: a reference in your files, the days that have data, and
                attributes for filters.
              </p>
              <A className="btn main" to="/event-groups/new">
                Describe an event group
              </A>
            </Empty>
          }
        >
          {(rows, readMore) => <Table rows={rows} onNearEnd={readMore} />}
        </RowList>
      </section>
    </>
  );
}

function Table({ rows, onNearEnd }: { rows: readonly EventGroup[]; onNearEnd: (() => void) | undefined }) {
  return (
    <VirtualTable
      rows={rows}
      keyOf={({ name }) => name!}
      onNearEnd={onNearEnd}
      head={
        <>
          <th>Reference</th>
          <th>Advertiser</th>
          <th>Campaign</th>
          <th>Data</th>
          <th>Filters can use</th>
        </>
      }
    >
      {(group) => (
        <>
          <td>
            <A to={`/event-groups/${idOf(group.name!)}`} className="cut">
              <bdi>{group.eventGroupReferenceId || idOf(group.name!)}</bdi>
            </A>{' '}
            {group.state === 'DELETED' && <Chip icon="minus">Deleted</Chip>}
          </td>
          <td data-l="Advertiser">
            <bdi>{partyName(group.measurementConsumer)}</bdi>
          </td>
          <td data-l="Campaign">
            <span className="cut">
              <bdi>{campaignOf(group)}</bdi>
            </span>
            <span className="sub">{group.mediaTypes?.map((type) => MEDIA_WORDS[type]).join(', ')}</span>
          </td>
          <td data-l="Data" className="nowrap">
            {dataWords(group)}
          </td>
          <td data-l="Filters can use">
            <code className="lines">{group.attributes?.map(({ name }) => name).join(', ')}</code>
          </td>
        </>
      )}
    </VirtualTable>
  );
}

function dataWords({ dataAvailabilityInterval: interval }: EventGroup): string {
  if (interval === undefined) return '';
  const last = interval.endTime && day(new Date(Date.parse(interval.endTime) - 1));
  return last ? `${day(interval.startTime)} – ${last}` : `since ${day(interval.startTime)}`;
}
