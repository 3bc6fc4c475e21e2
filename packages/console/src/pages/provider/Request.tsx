/** The page of one request: why it waits, the question, its verification, and the response. */
import { parseName, type Requisition } from '@measurement-exchange/contract';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { moment } from '../../format.ts';
import { useResource } from '../../live/useResource.ts';
import { RequestChip } from '../../parts/Chip.tsx';
import { CopyLink } from '../../parts/CopyLink.tsx';
import { ExplanationCard } from '../../parts/ExplanationCard.tsx';
import { capital, useNames } from '../../parts/names.ts';
import { PageHead } from '../../parts/PageHead.tsx';
import { specWords } from '../../parts/specWords.ts';
import { Loaded } from '../../parts/states.tsx';
import { useSession } from '../../session/session.ts';
import { Answered } from './Answered.tsx';
import { Asked } from './Asked.tsx';
import { DeferDialog } from './DeferDialog.tsx';
import { HeldCard } from './HeldCard.tsx';
import { RefuseDialog } from './RefuseDialog.tsx';
import { useHeld } from './requests.ts';
import { requestTitle } from './requestWhy.ts';
import { TimelineList } from './TimelineList.tsx';
import { Verified } from './Verified.tsx';

export default function RequestPage() {
  const { id } = useParams({ strict: false }) as { id: string };
  const { principal } = useSession();
  const name = `${principal}/requisitions/${id}`;
  const query = useResource('requisitions', ['one', name], ({ client }, signal) =>
    client.getRequisition({ name, signal }),
  );
  return (
    <>
      {query.data === undefined && <PageHead above={ABOVE} title={`Request ${id}`} />}
      <Loaded query={query}>{(requisition) => <Shown requisition={requisition} />}</Loaded>
    </>
  );
}

const ABOVE = { to: '/requests', text: 'Requests' };

function Shown({ requisition }: { requisition: Requisition }) {
  const { name, measurement, createTime, deleteTime, state } = requisition;
  const what = specWords(requisition.measurementSpec?.message)?.what ?? 'Request';
  const consumer = measurement && parseName('measurement', measurement)?.measurementConsumer;
  const isHeld = useHeld().has(name!);
  return (
    <>
      <PageHead
        above={ABOVE}
        title={consumer ? `${what}, for ${capital(consumer)}` : what}
        meta={[
          <RequestChip key="state" state={state} deferral={requisition.deferral} isHeld={isHeld} />,
          createTime && `Asked ${moment(createTime)}`,
          deleteTime && `Content removed ${moment(deleteTime)}`,
        ].filter((fact) => fact !== undefined && fact !== '')}
        actions={<CopyLink />}
      />
      <Why requisition={requisition} />
      {deleteTime === undefined && (
        <div className="cols c75">
          <Asked requisition={requisition} />
          <Verified requisition={requisition} />
        </div>
      )}
      <Answered requisition={requisition} />
      <History name={name!} />
    </>
  );
}

function Why({ requisition }: { requisition: Requisition }) {
  const [dialog, setDialog] = useState<'refuse' | 'defer'>();
  const name = requisition.name!;
  const query = useResource('requisitions', ['why', name], ({ client }, signal) =>
    client.explainRequisition({ name, signal }),
  );
  const nameOf = useNames();
  const close = () => setDialog(undefined);
  const isOpen = requisition.state === 'UNFULFILLED';
  const held = useHeld().get(name);
  const choices = isOpen && (
    <>
      <button type="button" className="btn" onClick={() => setDialog('defer')}>
        Defer…
      </button>
      <button type="button" className="btn danger" onClick={() => setDialog('refuse')}>
        Refuse…
      </button>
    </>
  );
  return (
    <>
      {held && isOpen ? (
        <HeldCard held={held}>{choices}</HeldCard>
      ) : (
        <Loaded query={query}>
          {(explanation) => (
            <ExplanationCard
              explanation={explanation}
              title={requestTitle(explanation, requisition, nameOf, Date.now())}
            >
              {choices}
            </ExplanationCard>
          )}
        </Loaded>
      )}
      {dialog === 'refuse' && <RefuseDialog requisition={requisition} close={close} />}
      {dialog === 'defer' && <DeferDialog requisition={requisition} close={close} />}
    </>
  );
}

function History({ name }: { name: string }) {
  const query = useResource('requisitions', ['timeline', name], ({ client }, signal) =>
    client.getRequisitionTimeline({ name, pageSize: 200, signal }).page(),
  );
  return (
    <section className="card">
      <header>
        <h2>What happened</h2>
      </header>
      <div className="in-card">
        <Loaded query={query}>{({ transitions }) => <TimelineList transitions={transitions} />}</Loaded>
      </div>
    </section>
  );
}
