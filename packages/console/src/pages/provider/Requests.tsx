/** The requests to the publisher, newest first, with a filter for their states. */
import { REQUISITION_STATES, type RequisitionState } from '@measurement-exchange/contract';
import { useSearch } from '@tanstack/react-router';
import { usePages } from '../../live/usePages.ts';
import { PageHead } from '../../parts/PageHead.tsx';
import { RowList } from '../../parts/RowList.tsx';
import { Segment } from '../../parts/Segment.tsx';
import { Empty } from '../../parts/states.tsx';
import { useSession } from '../../session/session.ts';
import { RequestTable } from './RequestTable.tsx';
import { rowOf } from './requests.ts';

const WORDS: Record<RequisitionState, string> = {
  UNFULFILLED: 'Open',
  FULFILLED: 'Answered',
  REFUSED: 'Refused',
  WITHDRAWN: 'Withdrawn',
};
const PAGE_SIZE = 50;

export default function Requests() {
  const { state } = useSearch({ strict: false }) as { state?: RequisitionState };
  const { companion } = useSession();
  const chosen = REQUISITION_STATES.find((each) => each === state);
  const pages = usePages('requisitions', [chosen], async ({ client, principal }, page) => {
    const { requisitions, nextPageToken } = await client
      .listRequisitions({
        parent: principal,
        pageSize: PAGE_SIZE,
        orderBy: 'createTime desc',
        ...(chosen && { 'filter.states': [chosen] }),
        ...page,
      })
      .page();
    return { rows: requisitions.map(rowOf), nextPageToken };
  });
  return (
    <>
      <PageHead
        title="Requests"
        meta={[
          companion
            ? 'Decoded with your key on this computer. The exchange cannot read them'
            : 'Sealed: only your key opens them, in mex console',
        ]}
      />
      <section className="card">
        <header>
          <h2>{chosen ? WORDS[chosen] : 'All'}, newest first</h2>
          <Segment
            label="State"
            options={[
              { to: '/requests', text: 'All', current: chosen === undefined },
              ...REQUISITION_STATES.map((each) => ({
                to: `/requests?state=${each}`,
                text: WORDS[each],
                current: each === chosen,
              })),
            ]}
          />
        </header>
        <RowList
          pages={pages}
          empty={
            <Empty title={chosen ? `None is ${WORDS[chosen].toLowerCase()}` : 'No request yet'}>
              <p>A request appears here as soon as an advertiser asks about one of your event groups.</p>
            </Empty>
          }
        >
          {(rows, readMore) => <RequestTable key={chosen} rows={rows} onNearEnd={readMore} />}
        </RowList>
      </section>
    </>
  );
}
